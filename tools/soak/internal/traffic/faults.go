package traffic

import (
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/link"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
)

// faults puts some faults into the PDUs of a script, and into the packets that carry them.
func (m *making) faults(s *synth.Script) {
	if m.rnd.IntN(4) == 0 {
		return
	}
	steps := posted(s.Timeline, nil)
	if len(steps) == 0 {
		return
	}
	conns := map[string]*synth.Connection{}
	for i := range s.Connections {
		conns[s.Connections[i].Name] = &s.Connections[i]
	}
	n := 1 + m.rnd.IntN(4)
	for range n {
		step := steps[m.rnd.IntN(len(steps))]
		c := conns[step.Conn]
		if c == nil {
			continue
		}
		at := pdu.Selector{Message: step.Name, Number: m.rnd.IntN(3), Segment: m.rnd.IntN(4) - 1}
		if m.rnd.IntN(4) == 0 {
			c.Wire[step.From] = append(c.Wire[step.From], m.wire(at))
			continue
		}
		// Who answers a Read makes a fault of the same name too.
		host := &c.Hosts[m.rnd.IntN(2)]
		host.RNIC.Faults = append(host.RNIC.Faults, m.fault(at))
	}
	m.say("%d faults", n)
}

// posted are the steps that post work.
func posted(steps []synth.Step, all []synth.Step) []synth.Step {
	for _, s := range steps {
		if s.Verb == synth.Post {
			all = append(all, s)
		}
		all = posted(s.Steps, all)
		for _, b := range s.Branches {
			all = posted(b, all)
		}
	}
	return all
}

func (m *making) octets(most int) []byte {
	b := make([]byte, 1+m.rnd.IntN(most))
	for i := range b {
		b[i] = byte(m.rnd.Uint32()) //nolint:gosec // its last octet
	}
	return b
}

// fault is a fault of a PDU.
func (m *making) fault(at pdu.Selector) pdu.Fault {
	f := pdu.Fault{At: at}
	switch m.rnd.IntN(14) {
	case 0:
		f.CRC.Mode = pdu.CRCBad
	case 1:
		f.CRC.Mode = pdu.CRCZero
	case 2:
		f.CRC.Mode = pdu.CRCReversed
	case 3:
		f.NoCRC = true
	case 4:
		f.Skip = true
	case 5:
		f.Repeat = 1 + m.rnd.IntN(3)
	case 6:
		f.Hold = 1 + m.rnd.IntN(3)
	case 7:
		f.Cut = m.rnd.IntN(40) - 20
	case 8:
		f.Extend = m.octets(40)
	case 9:
		f.Pad = m.octets(4)
	case 10:
		f.Stop = 1 + m.rnd.IntN(30)
	case 11:
		f.Before, f.Grid = m.octets(300), m.rnd.IntN(2) == 0
	case 12:
		f.Payload = m.octets(100)
	case 13:
		f.Octets = m.octets(60)
	}
	return f
}

// wire is what happens to packets that carry a PDU.
func (m *making) wire(at pdu.Selector) synth.Wire {
	w := synth.Wire{At: at, Times: 1 + m.rnd.IntN(2)}
	switch m.rnd.IntN(6) {
	case 0:
		w.Orders = link.Orders{LoseBefore: true}
	case 1:
		w.Orders = link.Orders{LoseAfter: true}
	case 2:
		w.Orders = link.Orders{Copies: 1 + m.rnd.IntN(3)}
	case 3:
		w.Orders = link.Orders{BadChecksum: true}
	case 4:
		w.Flip = []int{m.rnd.IntN(60)}
	case 5:
		w.Resend = true
	}
	return w
}
