package attack

// associations are attacks on SCTP.
func associations() []Attack {
	return []Attack{{
		Name: "inits", What: "SCTP INITs of a hundred addresses each", Unit: "INITs",
		Size: 15_000, Full: 100_000, Command: analyze, Bound: Bound{100, 450}, Write: shared("inits"),
	}}
}
