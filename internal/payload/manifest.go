package payload

import (
	"encoding/hex"
	"strconv"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/internal/dialogue"
)

// appendEntry appends the line of the manifest for a file. Its members are described in
// docs/schema.
func appendEntry(b []byte, m *dialogue.Message, c *content) []byte {
	text := func(key, v string) { b = append(strconv.AppendQuote(append(b, key...), v), ',') } // plain ASCII
	number := func(key string, v uint64) { b = append(strconv.AppendUint(append(b, key...), v, 10), ',') }
	hexed := func(key string, v uint64, digits int) {
		b = dissect.AppendHex(append(append(b, key...), '"'), v, digits)
		b = append(b, `",`...)
	}
	s := &m.Segment
	text(`{"record":"payload","file":`, c.name)
	number(`"conn":`, m.Conn)
	text(`"dir":`, m.Dir.String())
	hexed(`"opcode":`, uint64(m.Op), 2)
	text(`"opcode_name":`, m.Name())
	number(`"first_pdu":`, m.First)
	number(`"last_pdu":`, m.Last)
	number(`"segments":`, uint64(m.Segments)) //nolint:gosec // a count
	number(`"first_frame":`, m.FirstFrame)
	number(`"last_frame":`, m.LastFrame)
	if s.Tagged {
		hexed(`"stag":`, uint64(s.STag), 8)
		hexed(`"tagged_offset":`, s.TO, 16)
	} else {
		number(`"qn":`, uint64(s.QN))
		number(`"msn":`, uint64(s.MSN))
		number(`"mo":`, uint64(s.MO))
	}
	if m.Op.Invalidates() {
		hexed(`"invalidates":`, uint64(s.RsvdULP32), 8)
	}
	number(`"length":`, uint64(c.at)) //nolint:gosec // not negative
	flag := func(key string, v bool) { b = append(strconv.AppendBool(append(b, key...), v), ',') }
	flag(`"complete":`, complete(m, c))
	flag(`"has_start":`, m.Start)
	flag(`"has_end":`, m.Done)
	if c.missing > 0 {
		number(`"missing":`, uint64(c.missing))
		b = appendHoles(b, c)
	}
	b = append(b, `"sha256":"`...)
	b = hex.AppendEncode(b, c.sum.Sum(nil))
	return append(b, "\"}\n"...)
}

func appendHoles(b []byte, c *content) []byte {
	b = append(b, `"holes":[`...)
	for i, h := range c.holes {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(append(b, `{"offset":`...), h.Offset, 10)
		b = strconv.AppendInt(append(b, `,"length":`...), h.Length, 10)
		b = append(b, '}')
	}
	b = append(b, "],"...)
	if c.further > 0 {
		b = strconv.AppendInt(append(b, `"holes_omitted":`...), c.further, 10)
		b = append(b, ',')
	}
	return b
}
