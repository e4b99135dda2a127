package attack

// associations are attacks on SCTP.
func associations() []Attack {
	return []Attack{{
		Name: "inits", What: "SCTP INITs of a hundred addresses each", Unit: "INITs",
		Size: 10_000, Full: 100_000, Command: analyze, Open: "its work grows faster than their number", Write: shared("inits"),
	}}
}
