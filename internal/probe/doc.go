// Package probe tests a live iWARP peer: it plays cases against it, one connection each, and
// compares what comes back with what the RFCs demand.
//
//	case (YAML) ─▶ scenario ─▶ player ─▶ peer ◀─ socket ─▶ the peer under test
//	                              │        └── Tap ─▶ rules of check ┐
//	                              └── how it ended ──────────────────┴▶ Result
//
// In a case the probe is the client of the scenario and the peer the server, whoever opens the
// connection and sends the MPA Request.
package probe
