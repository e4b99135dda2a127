package statistics

import "github.com/iwdissect/iwdissect/trace"

// makeUpper reads "[filter]" of ulp,srt.
func makeUpper(s *spec, args string) error {
	s.taps = func(s *spec) []tap {
		return []tap{&upperTimes{responses: newResponses("ulp,srt", "Upper Layer Service Response Time Statistics", s.filter)}}
	}
	return s.only(args)
}

// maxOperations bounds the names of operations that are told apart.
const maxOperations = 256

// upperTimes gathers how long the operations of upper layers took.
type upperTimes struct {
	*responses
	// names has the operations by protocol and name.
	names   map[[2]string]int
	failed  uint64
	omitted uint64
}

func (t *upperTimes) event(e *event) {
	if e.is != aPDU {
		return
	}
	t.failed += uint64(e.failed) //nolint:gosec // not negative
	if e.answered.name != "" {
		t.ended(e, &e.answered)
	}
	for i := range e.more {
		t.ended(e, &e.more[i])
	}
}

// ended counts an operation that was answered.
func (t *upperTimes) ended(e *event, o *answered) {
	key := [2]string{e.protocol, o.name}
	op, ok := t.names[key]
	if !ok {
		if len(t.names) >= maxOperations {
			t.omitted++
			return
		}
		if t.names == nil {
			t.names = map[[2]string]int{}
		}
		op = t.op(e.protocol + " " + o.name)
		t.names[key] = op
	}
	if o.latency >= 0 {
		t.add(e.conn.Number, op, o.latency, o.frame)
	}
}

func (t *upperTimes) conn(c *trace.Connection) { t.over(c) }

func (t *upperTimes) report() *Report {
	r := t.responses.report()
	r.Facts = append(r.Facts, Fact{Column{"failed", "Answers that tell of an error", Count}, t.failed})
	if t.omitted > 0 {
		r.note(counted(t.omitted, "operation is", "operations are") + " left out: there are too many names")
	}
	return r
}
