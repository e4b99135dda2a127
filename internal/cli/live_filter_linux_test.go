package cli

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iwdissect/iwdissect/internal/capture"
	"github.com/iwdissect/iwdissect/internal/live/livetest"
)

// tagged are frames with a VLAN tag.
func tagged(frames []capture.Frame, tci uint16) []capture.Frame {
	out := slices.Clone(frames)
	for i := range out {
		f := &out[i]
		tag := binary.BigEndian.AppendUint16([]byte{0x81, 0}, tci)
		f.Data = slices.Insert(slices.Clone(f.Data), 12, tag...)
		f.OrigLen += 4
	}
	return out
}

// TestLive_FilterInKernel: the kernel keeps what the filter says, of plain and of tagged
// frames, on the side that sends, where the tag is in the frame, and on the one that
// receives, where it is beside it.
func TestLive_FilterInKernel(t *testing.T) {
	_, plain := sample(t)
	five, six := tagged(plain, 5), tagged(plain, 6)
	all := slices.Concat(plain, five, six)
	for _, tt := range []struct {
		name   string
		filter []string
		near   []capture.Frame // what is kept where the frames are received
		far    []capture.Frame // and where they are sent
	}{
		{"tcp", []string{"-f", "tcp"}, all, plain}, // a tag beside the frame is not looked at, as with libpcap
		{"vlan", []string{"-f", "vlan"}, slices.Concat(five, six), slices.Concat(five, six)},
		{"vlan 5", []string{"-f", "vlan 5 and tcp"}, five, five},
		{"not vlan 5", []string{"-f", "not vlan 5"}, slices.Concat(plain, six), slices.Concat(plain, six)},
		{"udp", []string{"-f", "udp or vlan and udp"}, nil, nil},
		{"either", []string{"-f", "tcp or (vlan 6 and tcp)"}, all, slices.Concat(plain, six)},
		{"everything", []string{"-f", ""}, all, all},
	} {
		for side, want := range map[string][]capture.Frame{livetest.Near: tt.near, livetest.Far: tt.far} {
			t.Run(tt.name+" "+side, func(t *testing.T) {
				livetest.Veth(t)
				send := livetest.Sender(t, false)
				kept := filepath.Join(t.TempDir(), "kept.pcapng")
				var l liveRun
				during(t, &l, func() { sendAll(send, all) }, slices.Concat(tt.filter, []string{"-w", kept, "--summary-only", side})...)
				l.expect(t, exitOK, "0 dropped by the kernel")
				sameFrames(t, kept, want)
			})
		}
	}
}

// TestLive_BPFFile runs what tcpdump has compiled.
func TestLive_BPFFile(t *testing.T) {
	if _, err := exec.LookPath("tcpdump"); err != nil {
		livetest.Skip(t, "needs tcpdump")
	}
	_, frames := sample(t)
	livetest.Veth(t)
	out, err := exec.Command("tcpdump", "-i", livetest.Near, "-ddd", "tcp[tcpflags] & tcp-push != 0").Output()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, out, 0o600); err != nil {
		t.Fatal(err)
	}
	var want []capture.Frame
	for _, f := range frames {
		if f.Data[14+20+13]&8 != 0 {
			want = append(want, f)
		}
	}
	if len(want) == 0 || len(want) == len(frames) {
		t.Fatalf("%d of %d frames", len(want), len(frames))
	}
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcap")
	var l liveRun
	during(t, &l, func() { sendAll(send, frames) }, "--bpf-file", program, "-w", kept, "--summary-only", livetest.Near)
	l.expect(t, exitOK)
	sameFrames(t, kept, want)
	during(t, &l, func() { sendAll(send, frames) }, "-w", kept, "--summary-only", livetest.Near, "tcp[tcpflags]", "&", "tcp-push", "!=", "0")
	l.expect(t, exitOK)
	sameFrames(t, kept, want)
}

// TestLive_BothEnds captures on both interfaces of a pair: each frame comes twice, first
// from the one that sends it.
func TestLive_BothEnds(t *testing.T) {
	_, frames := sample(t)
	livetest.Veth(t)
	send := livetest.Sender(t, false)
	kept := filepath.Join(t.TempDir(), "kept.pcapng")
	var l liveRun
	during(t, &l, func() { sendAll(send, frames) }, "-i", livetest.Near, "-i", livetest.Far, "-w", kept, "--summary-only", "tcp")
	l.expect(t, exitOK, "184 frames captured on iwdA,iwdB in ")
	got := readFrames(t, kept)
	if len(got) != 2*len(frames) {
		t.Fatalf("%d frames", len(got))
	}
	for i := range got {
		if got[i].Interface != 1-i%2 || i > 0 && got[i].Time < got[i-1].Time {
			t.Fatalf("frame %d is of interface %d", i+1, got[i].Interface)
		}
	}
}

// TestLive_Cooked filters what is captured without link headers.
func TestLive_Cooked(t *testing.T) {
	_, frames := sample(t)
	five := tagged(frames, 5)
	livetest.Veth(t)
	send := livetest.Sender(t, true) // not seen on the side that sends
	for filter, want := range map[string]int{"tcp": 2 * len(frames), "vlan 5 and tcp": len(frames), "vlan 6": 0, "tcp and inbound": 2 * len(frames)} {
		kept := filepath.Join(t.TempDir(), "kept.pcap")
		var l liveRun
		during(t, &l, func() {
			sendAll(send, frames)
			sendAll(send, five)
		}, "-i", "any", "-w", kept, "--summary-only", "-f", filter)
		l.expect(t, exitOK)
		if got := readFrames(t, kept); len(got) != want {
			t.Errorf("%s: %d frames instead of %d", filter, len(got), want)
		}
	}
	var l liveRun
	l.out, l.errs = newOutput(), newOutput()
	l.code = Run(&IOStreams{Out: l.out, Err: l.errs}, []string{"live", "any", "ether[0] = 1"})
	l.expect(t, exitUsage, "without its link header")
}
