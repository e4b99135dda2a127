package conformance_test

import (
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// TestLostStartup: what may be the sequel of a startup frame that was not captured is not held against anybody.
func TestLostStartup(t *testing.T) {
	rejects := func(k *talk) {
		s := k.ReplyFrame()
		s.R = true
		k.says(func() { k.Startup(server, s) })
	}
	asks := func(k *talk, side int) { k.says(func() { k.Startup(side, k.RequestFrame()) }) }
	again := func(lost bool) func(k *talk) {
		return func(k *talk) {
			k.Handshake()
			asks(k, client)
			rejects(k)
			if lost {
				k.loses()
			}
			asks(k, client)
			k.says(k.Reply)
			k.sends(client)
		}
	}
	swapped := func(lost bool) func(k *talk) {
		return func(k *talk) {
			k.Handshake()
			asks(k, client)
			if lost {
				rejects(k)
				k.loses()
			}
			asks(k, server)
			k.says(func() { k.Startup(client, k.ReplyFrame()) })
			k.sends(server)
			k.sends(client)
		}
	}
	// retried loses one of what it says, by its place: the Request, the reject, the other Request of a side, the Reply to that. Its end is
	// an FPDU of either side.
	retried := func(asker int, lost ...int) func(k *talk) {
		return func(k *talk) {
			k.Handshake()
			for i, say := range []func(k *talk){
				func(k *talk) { asks(k, client) },
				rejects,
				func(k *talk) { asks(k, asker) },
				func(k *talk) { k.says(func() { k.Startup(1-asker, k.ReplyFrame()) }) },
			} {
				if say(k); slices.Contains(lost, i) {
					k.loses()
				}
			}
			k.sends(asker)
			k.sends(1 - asker)
		}
	}
	// asksOn is another Request behind all that, in full operation, when the hole is known to stay.
	asksOn := func(k *talk) {
		again(true)(k)
		for range 2000 {
			k.sends(client)
		}
		asks(k, client)
		k.sends(client)
	}
	// goesOn loses octets that are no startup frame, or come too late.
	goesOn := func(lost int) func(k *talk) {
		return func(k *talk) {
			k.Handshake()
			asks(k, client)
			rejects(k)
			for i := range 3 {
				if k.sends(client); i == lost {
					k.loses()
				}
			}
			k.sends(server)
		}
	}
	// unasked is a Reply to nothing, or to a Request in a SYN.
	unasked := func(k *talk) {
		k.Handshake()
		k.says(k.Reply)
		k.sends(client)
		k.sends(server)
	}
	for _, tt := range []struct {
		name string
		of   func(k *talk)
		want []string
	}{
		{"another Request behind a reject that was not captured", again(true), nil},
		{"a Request of the other side behind a reject that was not captured", swapped(true), nil},
		{"a retry, and all was captured", retried(client), nil},
		{"a retry behind a Request that was not captured", retried(client, 0), nil},
		{"a retry that was not captured", retried(client, 2, 3), nil},
		{"a retry of the other side behind a Request that was not captured", retried(server, 0), nil},
		{"a retry of the other side that was not captured", retried(server, 2, 3), nil},
		{"a Request in full operation, behind a reject that was not captured", asksOn, []string{"MPA-START-08C"}},
		{"an FPDU behind a reject", goesOn(-1), []string{"MPA-START-02E", "MPA-START-02E"}},
		{"FPDUs behind a reject, and what is missing has no Reply in it", goesOn(0), []string{"MPA-START-02E", "MPA-START-02E"}},
		{"FPDUs behind a reject, and octets are missing behind them", goesOn(1), []string{"MPA-START-02E", "MPA-START-02E"}},
		{"a Request of both sides", swapped(false), []string{"MPA-KEY-INI-CLOSE-01", "MPA-START-08A"}},
		{"a Reply to nothing", unasked, []string{"MPA-START-02A"}},
		{"a Reply, and the SYN was not captured", func(k *talk) {
			unasked(k)
			k.Packets = k.Packets[1:]
		}, nil},
	} {
		k := &talk{Dialog: tracetest.NewDialog(plainStartup)}
		tt.of(k)
		k.Close()
		found := judged(t, tracetest.Net{}.Frames(k.Packets)).findings
		var got []string
		for i := range found {
			if found[i].Severity > conformance.Note {
				got = append(got, found[i].Rule.ID)
			}
		}
		if slices.Sort(got); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q\n\t%s", tt.name, got, tt.want, text(found))
		}
	}
}
