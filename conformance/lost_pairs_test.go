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

// attempts are startups, some with several attempts on the same ports. The sequence numbers differ by attempt.
func attempts() map[string][]capture.Frame {
	const second = int64(1e9)
	rev2 := tracetest.Setup{Rev: 2, CRC: true, Enhanced: true, Words: [2]mpa.Enhanced{{IRD: 4, ORD: 4}, {IRD: 4, ORD: 4}}}
	var at int64
	talks := func(setup tracetest.Setup) *talk {
		k := &talk{Dialog: tracetest.NewDialog(setup)}
		k.TCP.Wait(tracetest.Start + at)
		return k
	}
	// over ends a connection, and the next one begins later.
	over := func(k *talk, isn uint32) []capture.Frame {
		at = k.last().Time - tracetest.Start + second
		return tracetest.Net{ISN: [2]uint32{1000 + isn, 5000 + 3*isn}}.Frames(k.Packets)
	}
	asks := func(k *talk, side int) { k.says(func() { k.Startup(side, k.RequestFrame()) }) }
	answers := func(k *talk, side int, reject bool) {
		s := k.ReplyFrame()
		s.R = reject
		k.says(func() { k.Startup(side, s) })
	}
	works := func(k *talk, first int) {
		k.sends(first)
		k.Ack(1 - first)
		k.sends(1 - first)
		k.Ack(first)
		k.Close()
	}
	// once is a connection with these answers to the Requests of a side, rejecting or accepting ones.
	once := func(setup tracetest.Setup, opener int, syns int, isn uint32, rejects ...bool) []capture.Frame {
		k := talks(setup)
		k.Handshake()
		for range syns - 1 {
			k.Packets = slices.Insert(k.Packets, 0, k.Packets[0])
		}
		var rejected bool
		for _, rejected = range rejects {
			asks(k, opener)
			answers(k, 1-opener, rejected)
		}
		if rejected {
			k.Close()
		} else {
			works(k, opener)
		}
		return over(k, isn)
	}
	// closes answers a Request by closing.
	closes := func(setup tracetest.Setup, isn uint32, reset bool) []capture.Frame {
		k := talks(setup)
		k.Handshake()
		asks(k, client)
		if reset {
			k.Ack(server)
			k.RST(server)
		} else {
			k.FIN(server)
			k.FIN(client)
			k.Ack(server)
		}
		return over(k, isn)
	}
	again := talks(plainStartup)
	again.Handshake()
	asks(again, client)
	again.Packets = append(again.Packets, *again.last())
	again.Ack(server)
	answers(again, server, false)
	again.Packets = append(again.Packets, *again.last())
	again.Ack(client)
	works(again, client)
	swapped := talks(plainStartup)
	swapped.Handshake()
	asks(swapped, client)
	answers(swapped, server, true)
	asks(swapped, server)
	answers(swapped, client, false)
	works(swapped, server)
	refused := func(isn uint32) []capture.Frame {
		k := talks(plainStartup)
		k.Handshake()
		k.Packets = k.Packets[:1]
		k.RST(server)
		k.last().Ack = 0
		return over(k, isn)
	}
	const far = 1 << 30
	return map[string][]capture.Frame{
		"plain":                         once(plainStartup, client, 1, 0, false),
		"enhanced":                      once(rev2, client, 1, 0, false),
		"the server asks":               once(plainStartup, server, 1, 0, false),
		"the SYN again":                 once(plainStartup, client, 3, 0, false),
		"frames again":                  over(again, 0),
		"another Request":               once(plainStartup, client, 1, 0, true, false),
		"a third Request":               once(plainStartup, client, 2, 0, true, true, false),
		"a Request of the other side":   over(swapped, 0),
		"rejected":                      once(plainStartup, client, 1, 0, true),
		"another connection":            tracetest.Join(once(plainStartup, client, 1, 0, true), once(plainStartup, client, 1, far, false)),
		"another connection, near":      tracetest.Join(once(plainStartup, client, 1, 0, true), once(plainStartup, client, 1, 70000, false)),
		"another initiator":             tracetest.Join(once(plainStartup, client, 1, 0, true), once(plainStartup, server, 1, far, false)),
		"a fallback after a FIN":        tracetest.Join(closes(rev2, 0, false), once(plainStartup, client, 2, far, false)),
		"a fallback after a RST":        tracetest.Join(closes(rev2, 0, true), once(plainStartup, client, 1, far, false)),
		"a refused SYN":                 tracetest.Join(refused(0), refused(far), once(plainStartup, client, 1, 2*far, false)),
		"a fallback near after a FIN":   tracetest.Join(closes(rev2, 0, false), once(plainStartup, client, 1, 70000, false)),
		"a fallback, and the SYN again": tracetest.Join(closes(rev2, 0, true), once(plainStartup, client, 3, 70000, false)),
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
