package upperpdu

import (
	"io"

	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/dialogue"
	"github.com/iwdissect/iwdissect/internal/pcapng"
	"github.com/iwdissect/iwdissect/internal/pipeline"
	"github.com/iwdissect/iwdissect/trace"
)

// link is LINKTYPE_WIRESHARK_UPPER_PDU.
const link pcapng.LinkType = 252

const (
	// maxMessage bounds the octets of a message, and maxHeld what those that are not complete
	// take, with the calls that they belong to.
	maxMessage = pcapng.MaxCapLen - 1<<10
	maxHeld    = 64 << 20
)

// Options say how messages are written.
type Options struct {
	// Comment is that of the section; Application names what made the file.
	Comment, Application string
	// Layer is the upper layer of a connection, "" if it is not known, where the message
	// comes before it shows; it may be nil.
	Layer func(*trace.Connection) string
	// Live hands on each message at once, for one who waits for it.
	Live bool
	// Memory bounds what is kept, in octets; 0: 64 MiB.
	Memory int
	// Words append the comment of a message, of which the PDU is the first; nil: there are none.
	Words func([]byte, *trace.PDU) []byte
}

// Report says what was written.
type Report struct {
	// Messages were written, of which Plain have no dissector, and Cut lack octets.
	Messages, Plain, Cut uint64
	// Incomplete were not written, because segments of them are missing, Long because there
	// was no room for them.
	Incomplete, Long uint64
}

// Writer is a [pipeline.Sink] that writes the messages of Sends. The run must be neither brief
// nor lean, and has to recognise upper layers.
type Writer struct {
	Report
	// Failed is called when nothing more can be written.
	Failed func()

	opt       Options
	out       *pcapng.Writer
	messages  dialogue.Messages
	fragments map[way]*fragments
	chunks    chunks
	held      int // octets, at most so many
	most      int
	packet    []byte
	room      []byte
	err       error
}

// message is what is known of one that is under way.
type message struct {
	sent
	gone  bool // there is no room for it
	holed bool // octets behind those that there are were not captured
}

// New writes to w.
func New(w io.Writer, opt Options) (*Writer, error) {
	out, err := pcapng.NewWriter(w, pcapng.WriterOptions{Format: pcapng.PCAPNG, Comment: opt.Comment, Application: opt.Application})
	if err != nil {
		return nil, err
	}
	if _, err := out.AddInterface(pcapng.Interface{Link: link, Name: "iWARP", Description: "messages of upper layers over iWARP"}); err != nil {
		return nil, err
	}
	u := &Writer{opt: opt, out: out, fragments: map[way]*fragments{}, most: maxHeld}
	if opt.Memory > 0 {
		u.most = min(opt.Memory, maxHeld)
	}
	u.messages.Broken = func(m *dialogue.Message) {
		u.Incomplete++
		u.drop(m)
	}
	return u, nil
}

// Close writes what is left, and returns the first error.
func (w *Writer) Close() error {
	w.messages.Close()
	w.endCalls()
	for key := range w.fragments {
		w.forget(key)
		w.Incomplete++
	}
	w.fail(w.out.Flush())
	return w.err
}

func (w *Writer) fail(err error) {
	if w.err != nil || err == nil {
		return
	}
	if w.err = err; w.Failed != nil {
		w.Failed()
	}
}

// isSend reports whether a message is for the upper layer of the peer.
func isSend(op rdmap.Opcode) bool {
	return op == rdmap.OpSend || op == rdmap.OpSendInv || op == rdmap.OpSendSE || op == rdmap.OpSendSEInv
}

// PDU implements [trace.Sink].
func (w *Writer) PDU(p *trace.PDU) {
	switch {
	case w.err != nil || p.Segment == nil:
		return
	case !isSend(p.Control.Opcode):
		if w.layer(p.Conn) == rpcRDMA {
			w.moved(p)
		}
		return
	}
	m := w.messages.Add(p)
	msg, _ := m.Data.(*message)
	if msg == nil {
		msg = w.begin(p)
		m.Data = msg
	}
	w.add(msg, p)
	if !m.Done {
		return
	}
	if m.Whole() && !msg.gone {
		msg.frame, msg.time = m.LastFrame, m.Ended
		if in := w.unwrap(&msg.sent); !in.waits {
			w.write(&msg.sent, in)
		}
	} else if !msg.gone {
		w.Incomplete++
	}
	w.drop(m)
}

// layer is the upper layer of a connection, "" if it is not known.
func (w *Writer) layer(c *trace.Connection) string {
	switch {
	case c.Upper != nil:
		return c.Upper.Protocol
	case w.opt.Layer != nil:
		return w.opt.Layer(c)
	}
	return ""
}

// begin begins a message with its first PDU.
func (w *Writer) begin(p *trace.PDU) *message {
	msg := new(message)
	msg.conn, msg.dir, msg.ends, msg.proto = p.Conn.Number, p.Dir, endsOf(p.Conn, p.Dir), w.layer(p.Conn)
	if p.Upper != nil {
		for _, h := range p.Upper.Headers {
			msg.old = msg.old || h.Header == iser.RFC5046.Header()
		}
	}
	if w.opt.Words != nil {
		msg.comment = string(w.opt.Words(w.room[:0], p))
	}
	return msg
}

// add adds the octets of a PDU to a message, up to the first one that was not captured.
func (w *Writer) add(msg *message, p *trace.PDU) {
	begin := msg.length
	n := dialogue.Pieces(p, func(at int64, b []byte) {
		if begin+int(at) != len(msg.octets) {
			msg.holed = true
		}
		if msg.holed || msg.gone {
			return
		}
		if len(msg.octets)+len(b) > maxMessage || w.held+len(b) > w.most {
			msg.gone = true
			w.Long++
			return
		}
		msg.octets = append(msg.octets, b...)
		w.held += len(b)
	})
	msg.length += int(n)
	if !msg.gone && msg.length > maxMessage {
		msg.gone = true
		w.Long++
	}
	msg.holed = msg.holed || len(msg.octets) < msg.length
}

// drop forgets a message.
func (w *Writer) drop(m *dialogue.Message) {
	if msg, ok := m.Data.(*message); ok {
		w.held -= len(msg.octets)
		msg.octets = nil
	}
	m.Data = nil
}

// write writes a message.
func (w *Writer) write(s *sent, in inner) {
	w.Messages++
	if in.as.dissector == "data" {
		w.Plain++
	}
	if len(in.octets) < in.length {
		w.Cut++
	}
	w.packet = appendTags(w.packet[:0], in.as, s)
	tags := len(w.packet)
	w.packet = append(w.packet, in.octets...)
	rec := pcapng.Record{Data: w.packet, Time: s.time, OrigLen: uint32(tags + in.length), Link: link} //nolint:gosec // bounded
	if s.comment != "" {
		rec.Comments = []string{s.comment}
	}
	w.fail(w.out.WritePacket(&rec))
	if w.opt.Live {
		w.fail(w.out.Flush())
	}
}

// Gap implements [trace.Sink].
func (w *Writer) Gap(g *trace.GapEvent) {
	w.messages.Gap(g.Conn.Number, g.Dir)
	if w.forget(way{g.Conn.Number, g.Dir}) {
		w.Incomplete++
	}
}

// Transaction implements [trace.Sink].
func (w *Writer) Transaction(*trace.Transaction) {}

// Frame implements [pipeline.Sink].
func (w *Writer) Frame(*pipeline.Frame) {}
