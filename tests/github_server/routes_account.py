"""Who the token belongs to, and how much it may still ask."""

from typing import TYPE_CHECKING

from github_server import answers
from github_server.routing import Answer, Refusal, Request, route

if TYPE_CHECKING:
    from github_server.hub import Hub


@route("GET", "/user")
def get_user(hub: "Hub", request: Request) -> Answer:
    if request.login is None:
        raise Refusal(401, "Requires authentication")
    if hub.installation:
        raise Refusal(403, "Resource not accessible by integration")
    facts = answers.user(hub, request.login) | {"user_view_type": "public", "name": request.login}
    facts |= dict.fromkeys(("bio", "company", "email", "hireable", "location"))
    facts |= dict.fromkeys(("followers", "following", "public_gists", "public_repos"), 0)
    return Answer(
        200, facts | {"blog": "", "created_at": answers.stamp(hub.born), "updated_at": answers.stamp(hub.born)}
    )


@route("GET", "/rate_limit")
def rate_limit(hub: "Hub", request: Request) -> Answer:
    rate = hub.access.rate.facts()
    return Answer(200, {"rate": rate, "resources": {"core": rate, "search": rate, "graphql": rate}})
