package conformance_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

var enhancedStartup = tracetest.Setup{Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{{IRD: 4, ORD: 4}, {IRD: 4, ORD: 4}}}

// tries makes connections on the same ports, one behind the other.
type tries struct{ at int64 }

func (r *tries) begins(setup tracetest.Setup) *talk {
	k := &talk{Dialog: tracetest.NewDialog(setup)}
	k.TCP.Wait(tracetest.Start + r.at)
	k.Handshake()
	return k
}

// over ends a connection, and the next one begins a second later.
func (r *tries) over(k *talk, isn uint32) []capture.Frame {
	r.at = k.last().Time - tracetest.Start + 1e9
	return tracetest.Net{ISN: [2]uint32{1000 + isn, 5000 + 3*isn}}.Frames(k.Packets)
}

func (k *talk) asks(side int) { k.says(func() { k.Startup(side, k.RequestFrame()) }) }

func (k *talk) answers(side int, reject bool) {
	s := k.ReplyFrame()
	s.R = reject
	k.says(func() { k.Startup(side, s) })
}

func (k *talk) works(first int) {
	k.sends(first)
	k.Ack(1 - first)
	k.sends(1 - first)
	k.Ack(first)
	k.Close()
}

// once is a connection with these answers to the Requests of a side, rejecting or accepting ones.
func (r *tries) once(setup tracetest.Setup, opener, syns int, isn uint32, rejects ...bool) []capture.Frame {
	k := r.begins(setup)
	for range syns - 1 {
		k.Packets = slices.Insert(k.Packets, 0, k.Packets[0])
	}
	var rejected bool
	for _, rejected = range rejects {
		k.asks(opener)
		k.answers(1-opener, rejected)
	}
	if rejected {
		k.Close()
	} else {
		k.works(opener)
	}
	return r.over(k, isn)
}

// closes answers a Request by closing.
func (r *tries) closes(setup tracetest.Setup, isn uint32, reset bool) []capture.Frame {
	k := r.begins(setup)
	if k.asks(client); reset {
		k.Ack(server)
		k.RST(server)
	} else {
		k.FIN(server)
		k.FIN(client)
		k.Ack(server)
	}
	return r.over(k, isn)
}

// refused is a SYN that is answered by a reset.
func (r *tries) refused(isn uint32) []capture.Frame {
	k := r.begins(plainStartup)
	k.Packets = k.Packets[:1]
	k.RST(server)
	k.last().Ack = 0
	return r.over(k, isn)
}

// again sends the startup frames once more.
func (r *tries) again() []capture.Frame {
	k := r.begins(plainStartup)
	k.asks(client)
	k.Packets = append(k.Packets, *k.last())
	k.Ack(server)
	k.answers(server, false)
	k.Packets = append(k.Packets, *k.last())
	k.Ack(client)
	k.works(client)
	return r.over(k, 0)
}

// swapped is a connection on which the side that rejected asks.
func (r *tries) swapped() []capture.Frame {
	k := r.begins(plainStartup)
	k.asks(client)
	k.answers(server, true)
	k.asks(server)
	k.answers(client, false)
	k.works(server)
	return r.over(k, 0)
}

// attempts are startups, some with several attempts on the same ports. The sequence numbers differ by attempt.
func attempts() map[string][]capture.Frame {
	const near, far = 70_000, 1 << 30
	var r tries
	return map[string][]capture.Frame{
		"plain":                         r.once(plainStartup, client, 1, 0, false),
		"enhanced":                      r.once(enhancedStartup, client, 1, 0, false),
		"the server asks":               r.once(plainStartup, server, 1, 0, false),
		"the SYN again":                 r.once(plainStartup, client, 3, 0, false),
		"frames again":                  r.again(),
		"another Request":               r.once(plainStartup, client, 1, 0, true, false),
		"a third Request":               r.once(plainStartup, client, 2, 0, true, true, false),
		"a Request of the other side":   r.swapped(),
		"rejected":                      r.once(plainStartup, client, 1, 0, true),
		"another connection":            tracetest.Join(r.once(plainStartup, client, 1, 0, true), r.once(plainStartup, client, 1, far, false)),
		"another connection, near":      tracetest.Join(r.once(plainStartup, client, 1, 0, true), r.once(plainStartup, client, 1, near, false)),
		"another initiator":             tracetest.Join(r.once(plainStartup, client, 1, 0, true), r.once(plainStartup, server, 1, far, false)),
		"a fallback after a FIN":        tracetest.Join(r.closes(enhancedStartup, 0, false), r.once(plainStartup, client, 2, far, false)),
		"a fallback after a RST":        tracetest.Join(r.closes(enhancedStartup, 0, true), r.once(plainStartup, client, 1, far, false)),
		"a refused SYN":                 tracetest.Join(r.refused(0), r.refused(far), r.once(plainStartup, client, 1, 2*far, false)),
		"a fallback near after a FIN":   tracetest.Join(r.closes(enhancedStartup, 0, false), r.once(plainStartup, client, 1, near, false)),
		"a fallback, and the SYN again": tracetest.Join(r.closes(enhancedStartup, 0, true), r.once(plainStartup, client, 3, near, false)),
	}
}

// TestLostPairs: whichever two packets of right startups were not captured, nobody is accused of what the whole capture does not show.
func TestLostPairs(t *testing.T) {
	told := func(f *conformance.Finding) string { return fmt.Sprint(f.Rule.ID, " ", f.Severity) }
	for name, all := range attempts() {
		whole := map[string]bool{}
		for _, f := range judged(t, all).findings {
			whole[told(&f)] = true
		}
		for i := range all {
			for k := i; k < len(all); k++ {
				fs := slices.Delete(slices.Clone(all), k, k+1)
				if i < k {
					fs = slices.Delete(fs, i, i+1)
				}
				found := judged(t, tracetest.Number(fs)).findings
				if found = slices.DeleteFunc(found, func(f conformance.Finding) bool { return whole[told(&f)] }); len(found) > 0 {
					t.Errorf("%s, without frames %d and %d:\n\t%s", name, i+1, k+1, text(found))
				}
			}
		}
	}
}

// TestRetryNote: the note on another Request says which side sends it.
func TestRetryNote(t *testing.T) {
	of := attempts()
	for name, want := range map[string]string{
		"another Request":             "the initiator sends another Request after a reject",
		"a Request of the other side": "the side that rejected a Request sends one itself",
	} {
		var got []string
		for _, f := range judged(t, of[name]).findings {
			got = append(got, f.Message)
		}
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestLostRetry: that a host refuses the mode of a Request is told unless it was asked again, and how is not in the capture.
func TestLostRetry(t *testing.T) {
	all := attempts()["a fallback after a FIN"]
	for _, tt := range []struct {
		name string
		fs   []capture.Frame
		want []string
	}{
		{"and it fell back", all, []string{"ADV-REV-FALLBACK"}},
		{"the other Request is missing", slices.Concat(all[:11], all[12:]), nil},
		{"it was not asked again", all[:7], []string{"ADV-CLIENT-SERVER-REFUSED"}},
	} {
		if got := ids(judged(t, tracetest.Number(slices.Clone(tt.fs))).findings, ""); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
