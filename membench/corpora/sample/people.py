"""The people who talk with the assistant, and those they talk about."""

from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Person:
    """One user and the names behind the roles that every story refers to.

    A role always has the same pronoun in the stories: the sister, friend and colleague are "she", the brother,
    neighbour and boss "he", and the partner has none.
    """

    user: str
    partner: str
    sister: str
    brother: str
    friend: str
    neighbour: str
    colleague: str
    boss: str

    def names(self) -> dict[str, str]:
        """The slots that a story may use, by role."""
        return asdict(self)


# The n-th row of three lives where the n-th reading of every story takes place: Leeds, Bristol, Shropshire.
PEOPLE: tuple[tuple[Person, ...], ...] = (
    (
        Person("Marta", "Jonas", "Ines", "Luca", "Priya", "Desmond", "Hannah", "Graham"),
        Person("Tom", "Aisha", "Beth", "Callum", "Noor", "Walter", "Yuki", "Pieter"),
        Person("Renee", "Mark", "Odile", "Hector", "Saskia", "Clive", "Ruth", "Anders"),
    ),
    (
        Person("Kofi", "Elena", "Abena", "Kwame", "Maeve", "Ted", "Lucia", "Malcolm"),
        Person("Judith", "Sam", "Miriam", "Daniel", "Roxana", "Eamon", "Tessa", "Leonard"),
        Person("Arjun", "Claire", "Meera", "Rohan", "Zofia", "Bryn", "Gwen", "Stefan"),
    ),
    (
        Person("Freya", "Owen", "Sigrid", "Nils", "Dolores", "Harold", "Anneke", "Trevor"),
        Person("Pavel", "Lydia", "Katya", "Misha", "Imogen", "Ronnie", "Farah", "Douglas"),
        Person("Carys", "Ben", "Nerys", "Huw", "Talia", "Arthur", "Mei", "Rupert"),
    ),
)
