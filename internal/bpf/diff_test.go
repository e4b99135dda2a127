package bpf

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/net/bpf"

	"github.com/iwdissect/iwdissect/internal/tracetest"
)

// tcpdump compiles a filter with libpcap.
func tcpdump(args []string, filter string) ([]bpf.RawInstruction, error) {
	cmd := exec.Command("tcpdump", append(args, "-ddd", "--", filter)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.String())
	}
	return ReadProgram(bytes.NewReader(out))
}

// opNegate is an instruction that x/net's machine does not know.
const opNegate = 0x84

// machine runs a program in x/net's machine; nil if it cannot.
func machine(t *testing.T, prog []bpf.RawInstruction) *bpf.VM {
	t.Helper()
	for _, i := range prog {
		if i.Op == opNegate {
			return nil
		}
	}
	ins, ok := bpf.Disassemble(prog)
	if !ok {
		t.Fatalf("x/net does not know an instruction of %v", prog)
	}
	vm, err := bpf.NewVM(ins)
	if err != nil {
		t.Fatalf("%v: %v", err, ins)
	}
	return vm
}

var pcapNames = map[Link]string{Ethernet: "EN10MB", Raw: "RAW", SLL: "LINUX_SLL", SLL2: "LINUX_SLL2"}

// TestProgram_SameAsLibpcap runs the programs of both compilers for random
// filters on random packets.
func TestProgram_SameAsLibpcap(t *testing.T) {
	tracetest.Tcpdump(t)
	for _, c := range []struct {
		link                  Link
		filters, few, packets int
	}{{Ethernet, 500, 60, 150}, {Raw, 120, 15, 120}, {SLL, 120, 15, 120}, {SLL2, 120, 15, 120}} {
		t.Run(pcapNames[c.link], func(t *testing.T) {
			n := tracetest.Count(c.few, c.filters/2, c.filters)
			m := &maker{Rand: rand.New(rand.NewPCG(uint64(c.link), 18)), link: c.link}
			d := differ{t: t, m: m, args: []string{"-y", pcapNames[c.link]}}
			for range n {
				d.compare(m.filter(3), c.packets)
			}
			d.report()
		})
	}
}

// TestProgram_CookedInKernel compares programs for cooked sockets, whose frames
// begin behind the link header, with those of libpcap for the same frames in a
// file.
func TestProgram_CookedInKernel(t *testing.T) {
	tracetest.Tcpdump(t)
	n := tracetest.Count(20, 120, 300)
	m := &maker{Rand: rand.New(rand.NewPCG(3, 18)), link: SLL}
	pairs, matched := 0, 0
	for range n {
		filter := m.filter(3)
		// The length and the octets of the link header differ.
		for strings.Contains(filter, "ether[") || strings.Contains(filter, "len") || strings.Contains(filter, "less") || strings.Contains(filter, "greater") {
			filter = m.filter(3)
		}
		want, err := tcpdump([]string{"-O", "-y", "LINUX_SLL"}, filter)
		if err != nil {
			t.Fatalf("%q: %v", filter, err)
		}
		f, err := Parse(filter)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Program(Target{Link: SLL, Live: true})
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			frame, beside := m.packet()
			if len(frame) < 16 {
				continue
			}
			w := run(want, frame, nil) != 0
			if g := run(got, frame[16:], beside) != 0; g != w {
				t.Fatalf("%q: %v instead of %v for %x", filter, g, w, frame)
			}
			if pairs++; w {
				matched++
			}
		}
	}
	t.Logf("%d pairs, %d matches", pairs, matched)
	if matched*20 < pairs {
		t.Errorf("%d of %d pairs match: they prove little", matched, pairs)
	}
}

// differ compares filters and counts.
type differ struct {
	t                                            *testing.T
	m                                            *maker
	args                                         []string
	pairs, matched, filters, wrong, ours, theirs int
	// optimizer counts pairs in which the two programs of libpcap, with its
	// optimizer and without it, differ: the frame is too short for a load that
	// the optimizer left out. The one without it is what is compared with.
	optimizer int
}

func (d *differ) compare(filter string, packets int) {
	d.t.Helper()
	want, err := tcpdump(d.args, filter)
	if err != nil && strings.Contains(err.Error(), "expression rejects all packets") {
		want, err = []bpf.RawInstruction{{Op: opReturn}}, nil // found by its optimizer
	}
	if err != nil {
		d.t.Errorf("%q: %v", filter, err)
		return
	}
	plain, err := tcpdump(append([]string{"-O"}, d.args...), filter)
	if err != nil {
		d.t.Errorf("%q: %v", filter, err)
		return
	}
	f, err := Parse(filter)
	if err != nil {
		d.t.Errorf("%q: %v", filter, err)
		return
	}
	got, err := f.Program(Target{Link: d.m.link, Live: d.m.live})
	if err != nil {
		d.t.Errorf("%q: %v", filter, err)
		return
	}
	d.filters++
	d.ours += len(got)
	d.theirs += len(want)
	var vm, theirs *bpf.VM
	if !d.m.live {
		vm, theirs = machine(d.t, got), machine(d.t, want)
	}
	for range packets {
		frame, beside := d.m.packet()
		g, w := run(got, frame, beside) != 0, run(want, frame, beside) != 0
		if vm != nil {
			if n, err := vm.Run(frame); err != nil || n != 0 != g {
				d.t.Fatalf("%q: x/net's machine: %d, %v", filter, n, err)
			}
		}
		if theirs != nil {
			if n, err := theirs.Run(frame); err != nil || n != 0 != w {
				d.t.Fatalf("%q: x/net's machine: %d, %v, of libpcap's program", filter, n, err)
			}
		}
		d.pairs++
		if g {
			d.matched++
		}
		p := run(plain, frame, beside) != 0
		if w != p {
			d.optimizer++
			whole := append(frame, make([]byte, 1<<10)...)
			if !d.m.live && run(plain, whole, beside) != run(want, whole, beside) {
				d.t.Errorf("%q: libpcap differs from itself for %x, which is not cut", filter, frame)
			}
		}
		if g != p {
			if d.wrong++; d.wrong <= 10 {
				d.t.Errorf("%q: %v instead of %v for %x, beside it %+v", filter, g, p, frame, *beside)
			}
			return
		}
	}
}

func (d *differ) report() {
	d.t.Helper()
	d.t.Logf("%d filters, %d pairs, %d matches, %d filters differ; %d instructions, libpcap %d; %d pairs in which libpcap with its optimizer and without it differ",
		d.filters, d.pairs, d.matched, d.wrong, d.ours, d.theirs, d.optimizer)
	if d.pairs > 1000 && (d.matched*20 < d.pairs || d.matched*20 > 19*d.pairs) {
		d.t.Errorf("%d of %d pairs match: they prove little", d.matched, d.pairs)
	}
	if d.optimizer*50 > d.pairs {
		d.t.Errorf("libpcap differs from itself in %d of %d pairs", d.optimizer, d.pairs)
	}
}
