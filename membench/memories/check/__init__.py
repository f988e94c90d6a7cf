"""Does a memory keep the contract? Rule by rule, with the smallest call and answer that shows that it does not."""
