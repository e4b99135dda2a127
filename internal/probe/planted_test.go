package probe_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/iwdissect/iwdissect/dissect/rdmap"
	"github.com/iwdissect/iwdissect/internal/probe"
	"github.com/iwdissect/iwdissect/internal/synth/pdu"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// at is a fault of the messages of a name.
func at(name string, f pdu.Fault) func(*rnic.Config) {
	f.At.Message = name
	return func(c *rnic.Config) { c.Faults = append(c.Faults, f) }
}

// set overwrites fields of the messages of a name.
func set(name, field string, v uint64) func(*rnic.Config) {
	return at(name, pdu.Fault{Set: []pdu.Value{{Name: field, Number: v}}})
}

func add(name, field string, v uint64) func(*rnic.Config) {
	return at(name, pdu.Fault{Set: []pdu.Value{{Name: field, Number: v, Add: true}}})
}

// overlooks is a product that does not find an error.
func overlooks(layer, etype, code uint8) func(*rnic.Config) {
	return func(c *rnic.Config) {
		c.Overlooks = append(c.Overlooks, rdmap.TermCode{Layer: layer, EType: etype, Code: code})
	}
}

// planted are faults of a product, with the rules that they break.
var planted = []struct {
	name  string
	plant func(*rnic.Config)
	rules []string
}{
	{"reserved bits of the Reply", add("reply", "iwarp_mpa.res", 1), []string{"MPA-RES-01"}},
	{"S missing from the Reply", set("reply", "iwarp_mpa.enhanced_flag", 0), []string{"MPA2-ENH-REPLY-01"}},
	{"A in a Reply to client and server", func(c *rnic.Config) {
		set("reply", "iwarp_mpa.enhanced.a", 1)(c)
		set("reply", "iwarp_mpa.enhanced.b", 1)(c)
	}, []string{"MPA2-CTRL-A-02"}},
	{"ORD above the IRD of the Request", set("reply", "iwarp_mpa.enhanced.ord", 0x3ff0), []string{"MPA2-IRDORD-01", "MPA2-IRDORD-05"}},
	{"revision 2 in every Reply", set("reply", "iwarp_mpa.rev", 2), []string{"MPA2-REV-04", "RNIC-IOP-NONPERM-01"}},
	{"CRC of Responses", at("response", pdu.Fault{CRC: pdu.CRC{Mode: pdu.CRCBad}}), []string{"MPA-CRC-VALUE-01"}},
	{"pad of Responses", at("response", pdu.Fault{Pad: []byte{0, 0, 0}}), []string{"MPA-FPDU-PAD-02"}},
	{"STag of Responses", add("response", "iwarp_ddp.stag", 1), []string{"RDMAP-READRESP-STAG-01"}},
	{"TO of Responses", add("response", "iwarp_ddp.tagged_offset", 4), []string{"RDMAP-READRESP-TO-01"}},
	{"length of Responses", at("response", pdu.Fault{Extend: []byte{0}}), []string{"RDMAP-READRESP-LEN-01"}},
	{"L of Responses", set("response", "iwarp_ddp.last_flag", 0), []string{"DDP-L-01"}},
	{"reserved bits of DDP", set("response", "iwarp_ddp.rsvd", 1), []string{"DDP-RSVD-01"}},
	{"reserved bits of RDMAP", set("response", "iwarp_rdma.rsv", 1), []string{"RDMAP-RSV-01"}},
	{"DDP version of Responses", set("response", "iwarp_ddp.dv", 2), []string{"DDP-DV-01"}},
	{"RDMAP version of Responses", set("response", "iwarp_rdma.version", 2), []string{"RDMAP-RV-01"}},
	{"Responses twice", at("response", pdu.Fault{Repeat: 1}), []string{"RDMAP-READRESP-UNSOL-01"}},
	{"request identifiers of Atomic Responses", add("atomic_response", "iwarp_rdma.atomic.original_request_identifier", 1), []string{"RDMAX-ARESP-ID-01"}},
	{"old values of Atomic Responses", add("atomic_response", "iwarp_rdma.atomic.original_remote_data_value", 1), []string{"RDMAX-AREQ-ANSWER-01", "RDMAX-RESULT-01"}},
	{"L of Atomic Responses", set("atomic_response", "iwarp_ddp.last_flag", 0), []string{"RDMAX-SEG-01"}},
	{"length of Atomic Responses", at("atomic_response", pdu.Fault{Extend: []byte{0, 0, 0, 0}}), []string{"RDMAX-ARESP-LEN-01"}},
	{"MSN of Atomic Responses", add("atomic_response", "iwarp_ddp.msn", 1), []string{"RDMAX-ARESP-MSN-01"}},
	{"Reads overtake atomics", at("atomic_response", pdu.Fault{Hold: 1}), []string{"RDMAX-ORDER-02"}},
	{"no answers", func(c *rnic.Config) { c.Ignore |= rnic.IgnoreRequests }, []string{"RDMAP-READ-PAIR-01"}},
	{"markers left out", at("response", pdu.Fault{Markers: []pdu.Marker{{Drop: true}}}), []string{"MPA-M-REQ-01"}},
	{"markers point elsewhere", at("response", pdu.Fault{Markers: []pdu.Marker{{Number: 2, SetPointer: true, Pointer: 4}}}), []string{"MPA-MARKER-PTR-05"}},
	{"queue of Terminates", set("terminate", "iwarp_ddp.qn", 0), []string{"RDMAP-TERM-QN-01"}},
	{"reserved bits of Terminates", set("terminate", "iwarp_rdma.term_rsvd", 1), []string{"RDMAP-TERM-RSVD-01"}},
	{"overlooks CRCs", overlooks(2, 0, 2), []string{"MPA-CRC-REACT-01"}},
	{"overlooks segments without a header", overlooks(1, 0, 0), []string{"DDP-HDR-01"}},
	{"overlooks STags", overlooks(1, 1, 0), []string{"DDP-STAG-02"}},
	{"overlooks bounds", overlooks(1, 1, 1), []string{"DDP-ERR-MISSED-01"}},
	{"overlooks the version of tagged segments", overlooks(1, 1, 4), []string{"DDP-DV-01"}},
	{"overlooks queue numbers", overlooks(1, 2, 1), []string{"DDP-UNTAG-QN-02"}},
	{"overlooks MSNs", overlooks(1, 2, 3), []string{"DDP-UNTAG-MSN-01", "DDP-UNTAG-MSN-02", "RDMAP-READREQ-MSN-01"}},
	{"overlooks MOs", overlooks(1, 2, 4), []string{"DDP-UNTAG-MO-01", "DDP-UNTAG-MO-02"}},
	{"overlooks the version of untagged segments", overlooks(1, 2, 6), []string{"DDP-DV-01"}},
	{"overlooks the version of RDMAP", overlooks(0, 2, 5), []string{"RDMAP-RV-01"}},
	{"overlooks STags of requests", overlooks(0, 1, 0), []string{"RDMAP-INVSTAG-03", "RDMAP-READREQ-VALID-01", "RDMAX-TERM-01"}},
	{"overlooks bounds of requests", overlooks(0, 1, 1), []string{"RDMAP-READREQ-VALID-01", "RDMAX-TERM-01"}},
	{"overlooks requests that are malformed", overlooks(0, 2, 7), []string{"RDMAP-READREQ-LEN-01", "RDMAX-AREQ-ALIGN-02"}},
}

// TestRun_PlantedEnd: a product that does not close breaks the rule of that. Each connection takes
// as long as the probe waits for its end, therefore few cases are played.
func TestRun_PlantedEnd(t *testing.T) {
	if !tracetest.Campaign() {
		t.Skip("it waits in vain: only in a campaign")
	}
	t.Parallel()
	open := responder(t, "127.0.0.1:0", func() rnic.Config {
		c := product(false)
		c.Ignore |= rnic.IgnoreClose
		return c
	})
	o := options(open)
	results, _, err := probed(t, of(t, probe.Responder, "ends-close"), o)
	if err != nil || len(results) != 1 || results[0].Verdict != probe.Fail || !slices.Equal(results[0].Broken, []string{"TCP-HALFCLOSE-01"}) {
		t.Errorf("%v, %v", results, err)
	}
}

// stuck are faults for which cases wait in vain, each as long as the probe is patient. Only one case is played.
var stuck = map[string]string{"Reads overtake atomics": "atomics-with-reads", "no answers": "basic-write-read", "L of Responses": "basic-write-read", "markers left out": "markers", "overlooks CRCs": "crc-bad-write"}

// slow are cases that take long.
var slow = []string{"framing-octets", "framing-sevens", "reads-after-pause", "rtr-late", "startup-in-pieces"}

// TestRun_Planted: a product with a fault breaks the rule of that fault in some case, and no
// other one. A plain go test plants some of them.
func TestRun_Planted(t *testing.T) {
	if n := len(planted); n < 30 {
		t.Fatalf("%d faults", n)
	}
	var all sync.WaitGroup
	defer all.Wait()
	some := tracetest.Some(planted, 6)
	if testing.Short() { // with the race detector, to which they are all alike
		some = planted[:3]
	}
	for _, f := range some {
		// They mostly wait, so all are done at the same time, however few processors there are.
		all.Go(func() { t.Run(f.name, func(t *testing.T) { plant(t, f.name, f.plant, f.rules) }) })
	}
}

// plant tests a product with a fault.
func plant(t *testing.T, name string, fault func(*rnic.Config), rules []string) {
	cases := of(t, probe.Responder)
	o := options(responder(t, "127.0.0.1:0", func() rnic.Config {
		c := product(false)
		fault(&c)
		return c
	}))
	switch only := stuck[name]; {
	case only != "":
		cases, o.Timeout = of(t, probe.Responder, only), time.Second
	default:
		cases = slices.DeleteFunc(slices.Clone(cases), func(c *probe.Case) bool { return slices.Contains(slow, c.Name) })
	}
	results, _, err := probed(t, cases, o)
	if err != nil || len(results) != len(cases) {
		t.Fatalf("%d of %d cases, %v", len(results), len(cases), err)
	}
	var found []string
	for _, r := range results {
		found = append(found, r.Broken...)
	}
	slices.Sort(found)
	if found = slices.Compact(found); slices.Equal(found, rules) {
		return
	}
	t.Errorf("%q were broken, not %q", found, rules)
	for _, r := range results {
		if slices.ContainsFunc(r.Broken, func(id string) bool { return !slices.Contains(rules, id) }) {
			t.Log(say(r))
		}
	}
}
