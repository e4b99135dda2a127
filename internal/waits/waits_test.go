package waits

import (
	"fmt"
	"strings"
	"testing"

	"github.com/iwdissect/iwdissect/dissect/ddp"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/trace"
)

// told notes changes: the time, how many wait then, a mark for requests, and how many of them are not known.
type told struct{ strings.Builder }

func (s *told) Waits(w Change) {
	fmt.Fprintf(s, " %d:%d", w.Time, w.Now)
	if w.Asked {
		s.WriteByte('+')
	}
	if w.Unknown > 0 {
		fmt.Fprintf(s, "?%d", w.Unknown)
	}
}

// side is what happens on a connection whose initiator reads.
type side struct {
	told
	conn trace.Connection
	c    Conn
	e    Event
	n    uint64
}

func newSide() *side { return &side{conn: trace.Connection{Transport: trace.TCP}} }

func (s *side) pdu(dir trace.Dir, op rdmap.Opcode, at, from, acked int64) {
	s.n++
	s.e.PDU(&trace.PDU{
		Conn: &s.conn, Dir: dir, Number: s.n, Time: at, Frame: uint64(at), From: from, Length: 10, LastAcked: acked,
		Segment: &ddp.Segment{}, Control: rdmap.Control{Opcode: op},
	})
	s.c.Take(&s.e, &s.told)
}

// asks is a request that acknowledges so much.
func (s *side) asks(at, acked int64) {
	s.conn.Flow[0].Requests++
	s.pdu(trace.I2R, rdmap.OpReadRequest, at, 10*at, acked)
}

// answers is the answer to the oldest request but so many, which get none.
func (s *side) answers(at, from int64, skipped uint64) {
	s.conn.Flow[0].Answered++
	s.conn.Flow[0].Rarely().Unanswered += skipped
	s.pdu(trace.R2I, rdmap.OpReadResponse, at, from, 0)
}

// TestConn_Late: answers that become known late came when they were captured.
func TestConn_Late(t *testing.T) {
	s := newSide()
	s.asks(1, 0)
	s.conn.Flow[1].Waiting = true
	s.asks(3, 10)
	s.asks(5, 20)
	s.answers(2, 0, 0)
	s.answers(4, 10, 0)
	s.conn.Flow[1].Waiting = false
	s.answers(6, 20, 0)
	if got, want := s.String(), " 1:1+ 2:0 3:1+ 4:0 5:1+ 6:0"; got != want {
		t.Errorf("%s, want%s", got, want)
	}
}

// TestConn_OutOfStep: what a request acknowledges came before it, wherever it was captured.
func TestConn_OutOfStep(t *testing.T) {
	s := newSide()
	s.asks(1, 0)
	s.conn.Flow[1].Waiting = true
	s.asks(3, 10)
	s.conn.Flow[1].Waiting = false
	s.answers(4, 0, 0)
	s.answers(7, 10, 0)
	if got, want := s.String(), " 1:1+ 3:0 3:1+ 7:0"; got != want {
		t.Errorf("%s, want%s", got, want)
	}
}

// TestConn_Missing: a request whose answer may be missing does not wait until another one is answered.
func TestConn_Missing(t *testing.T) {
	s := newSide()
	s.asks(1, 0)
	s.conn.Flow[1].Waiting = true
	s.asks(3, 10)
	s.conn.Flow[1].Rarely().Gaps++
	s.answers(4, 10, 1)
	s.conn.Flow[1].Waiting = false
	s.asks(9, 20)
	s.answers(10, 20, 0)
	if got, want := s.String(), " 1:1+ 1:0?1 3:1+ 4:0 9:1+ 10:0"; got != want {
		t.Errorf("%s, want%s", got, want)
	}
}

// TestConn_KnownLate: the request came behind octets that were missing, after its answer had.
func TestConn_KnownLate(t *testing.T) {
	s := newSide()
	s.conn.Flow[0].Waiting = true
	s.conn.Flow[0].Requests, s.conn.Flow[0].Answered = 1, 1
	s.pdu(trace.I2R, rdmap.OpReadRequest, 2, 20, 0)
	s.e.Answers(&trace.Transaction{Conn: &s.conn, Request: s.n, Last: 5})
	s.c.Take(&s.e, &s.told)
	s.conn.Flow[0].Waiting = false
	s.asks(9, 20)
	if got, want := s.String(), " 2:1+ 7:0 9:1+"; got != want {
		t.Errorf("%s, want%s", got, want)
	}
}
