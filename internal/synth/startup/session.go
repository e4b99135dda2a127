package startup

import "github.com/iwdissect/iwdissect/dissect/mpa"

// What follows is for DDP over SCTP, where session control chunks take the
// place of startup frames and the word is the same (RFC 6581 section 7). There
// is no ready-to-receive indication: either side may send first.

// Enhanced reports whether the end knows the word.
func (c *Config) Enhanced() bool { return c.enhanced() }

// Begin makes the own limits the depths in force, as long as nothing else is
// agreed.
func (m *Machine) Begin() { m.res.IRD, m.res.ORD = m.cfg.IRD, m.cfg.ORD }

// Ask is the word of an Initiate.
func (m *Machine) Ask() mpa.Enhanced { return m.cfg.ask() }

// Grant is the word of the Accept that answers an Initiate.
func (m *Machine) Grant(q mpa.Enhanced) mpa.Enhanced { return m.answer(q) }

// Take takes the word of an Accept.
func (m *Machine) Take(r mpa.Enhanced) { m.depths(r) }

// Agreed is what holds over SCTP: no markers, no CRC, depths.
func (m *Machine) Agreed() Result {
	r := m.res
	r.SendMarkers, r.RecvMarkers, r.CRC, r.RTR, r.RTRs, r.Version = false, false, false, 0, 0, 1
	return r
}
