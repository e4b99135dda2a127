package diagnose

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// Capture adds what is to be said about the whole capture: above all what it holds if there
// is no iWARP in it, and what to capture instead. It is to be called once, at the end, with
// the totals of the run.
func (s *Summary) Capture(t *pipeline.Totals, o *pipeline.Others) {
	s.release()
	for _, d := range (&whole{Totals: t, Others: o, live: s.Live}).all() {
		s.Add(d)
	}
	s.rejoin()
	s.unread(t, o)
}

// unread tells of link types that are not read where something is missing from a connection: their frames
// may hold it.
func (s *Summary) unread(t *pipeline.Totals, o *pipeline.Others) {
	if t.IWARP == 0 || len(o.Links) == 0 {
		return
	}
	if !slices.ContainsFunc(s.all, func(d *Diagnosis) bool { return d.Kind == Missing && d.Conn != nil }) {
		return
	}
	w := whole{Totals: t, Others: o, live: s.Live}
	w.unreadLinks()
	for _, d := range w.diagnoses {
		s.Add(d)
	}
	l := &o.Links[0]
	for _, d := range s.all {
		if d.because != nil {
			_, _, d.Advice = linkName(l.Type)
			d.Text = d.because(fmt.Sprintf("the network did not lose them. They may be in %s of link type %d, the first in frame %d, which this program does not read.",
				Counted(l.Count, "frame", "frames"), l.Type, l.First))
		}
	}
}

// linked counts the frames of a link type that cannot be read.
func linked(l *pipeline.Link) string {
	name, _, _ := linkName(l.Type)
	return fmt.Sprintf("%s link type %d, %s, the first in frame %d", have(l.Count), l.Type, name, l.First)
}

// Capture diagnoses a whole capture.
func Capture(t *pipeline.Totals, o *pipeline.Others) []Diagnosis {
	return (&whole{Totals: t, Others: o}).all()
}

func (w *whole) all() []Diagnosis {
	w.every()
	w.copies()
	w.lost()
	return w.diagnoses
}

func (w *whole) every() {
	w.unopened()
	if w.IWARP > 0 {
		return // then the rest is of no interest
	}
	w.rdma()
	w.links()
	w.streams()
	w.oneWay()
	w.cut()
	if len(w.diagnoses) == 0 {
		w.nothing()
	}
}

// LostPackets says in a sentence what a capture lost before it was written.
func LostPackets(t *pipeline.Totals) string {
	l := &t.Lost
	var parts []string
	if l.System > 0 {
		parts = append(parts, Number(l.System)+" by the operating system")
	}
	if l.Interface > 0 {
		parts = append(parts, Number(l.Interface)+" by the interface")
	}
	return fmt.Sprintf("The capture says that it lost packets before they were written: %s.", list(parts))
}

// moreRoom is what to do about packets that the capture lost.
const moreRoom = "give the capture a larger buffer (tcpdump -B, dumpcap -B), capture less (a filter, a snap length), or write to a faster disk."

// badLink is what to do about packets that were damaged on their way, tapOnce about those that were captured twice.
const (
	badLink = "look for a bad cable, port or adapter between the sender and the capture point."
	tapOnce = "capture at one place, or only one direction of each mirrored port; editcap -d removes copies that are the same octet for octet."
)

// lost tells of packets that the capture lost, by its own account. Which ones nobody knows.
func (w *whole) lost() {
	if !w.Lost.Any() || w.Frames == 0 { // else see nothing
		return
	}
	w.add(Diagnosis{
		Kind: Missing, leads: true, Severity: conformance.Note, Title: "packets lost by the capture",
		Text:   LostPackets(w.Totals) + " What is missing from connections may be among them.",
		Advice: moreRoom,
	})
}

// copiesShare is which part of the packets is captured twice at least for it to be told: a network makes a few copies as well.
const copiesShare = 50

// copies tells of packets that were captured twice.
func (w *whole) copies() {
	if w.Copies == 0 || w.Copies*copiesShare < w.TCP {
		w.alike()
		return
	}
	w.add(Diagnosis{
		Kind: Copies, leads: true, Severity: conformance.Note, Frames: framesAt(w.FirstCopy), Title: "packets captured twice",
		Text: fmt.Sprintf("At least %s of %s are copies of others. The first one that was recognized is in frame %d. The same IP packet was captured twice: at two places, on two "+
			"interfaces, or where it entered and where it left a switch. Copies do not count as retransmissions, nor as packets of connections.",
			Number(w.Copies), Counted(w.TCP, "TCP packet", "TCP packets"), w.FirstCopy),
		Advice: tapOnce,
	})
}

const (
	// alikeShare is which part of the packets that were compared, in percent, is the same as another one if all are captured twice, but for
	// the first ones. What is lost and sent again, and acknowledged again, is less.
	alikeShare = 40
	// alikeLeast is how many of them tell something.
	alikeLeast = 10
)

// alike tells of packets that were probably captured twice: nothing proves it of one, but with and without data so many of them are the
// same as another one as no network and no sender repeats.
func (w *whole) alike() {
	data, alike := w.Compared-w.ComparedBare, w.Alike-w.AlikeBare
	if alike < alikeLeast || w.AlikeBare < alikeLeast || 100*alike < alikeShare*data || 100*w.AlikeBare < alikeShare*w.ComparedBare {
		return
	}
	w.add(Diagnosis{
		Kind: Copies, leads: true, Severity: conformance.Note, Title: "packets perhaps captured twice",
		Text: fmt.Sprintf("Most packets seem to have been captured twice: %s of %s TCP packets that were compared are the same as another one shortly before. Acknowledgements "+
			"without data are among them, and no sender repeats those so often. Nothing proves that a single packet is a copy, because the packets have no IP "+
			"identification of their own. So they count as retransmissions, and what is said about lost packets, retransmissions and stalls may be wrong.",
			Number(w.Alike), Number(w.Compared)),
		Advice: tapOnce,
	})
}

// whole is a capture that is being diagnosed.
type whole struct {
	*pipeline.Totals
	*pipeline.Others
	diagnoses []Diagnosis
	live      bool
}

func (w *whole) add(d Diagnosis) {
	if d.same == "" {
		d.same = d.Title
	}
	w.diagnoses = append(w.diagnoses, d)
}

// tcpdump is a command for what can be iWARP.
const tcpdump = "tcpdump -i IFACE -s 0 -w trace.pcap tcp"

// bothDirections is what to do where one direction was not captured, in front of a command.
const bothDirections = "mirror both directions of the port to the capture, and make sure that no filter drops one: "

// offloaded is what to know about adapters with iWARP.
const offloaded = "Hardware RNICs carry TCP past the kernel, so tcpdump on their host does not see it; a mirror port of the switch does."

// unopened tells of servers to which connections were not opened.
func (w *whole) unopened() {
	refused := func(u *pipeline.Unopened) pipeline.Seen { return u.Refused }
	silent := func(u *pipeline.Unopened) pipeline.Seen {
		if u.Spoilt.Count > 0 && w.SumsRight == 0 { // no checksum of the sender may be right
			return pipeline.Seen{Count: u.Silent.Count + u.Spoilt.Count, First: min(cmp.Or(u.Silent.First, u.Spoilt.First), u.Spoilt.First)}
		}
		return u.Silent
	}
	w.spoilt()
	severity := conformance.Error
	if w.IWARP > 0 || len(w.Streams) > 0 {
		severity = conformance.Note // others were opened, which one is meant is not known
	}
	if n, frames, where := w.sum(refused); n > 0 {
		w.add(Diagnosis{
			Kind: Refused, Severity: severity, Frames: frames, Title: "connection refused",
			Text:   fmt.Sprintf("%s refused with a reset: nothing listens on %s, or a firewall answered instead.", were(n, "TCP connection"), where),
			Advice: "start the server, compare its port with the one that the client uses, and look for an iWARP port mapper (iwpmd), which moves services to other ports.",
		})
	}
	if n, frames, where := w.sum(silent); n > 0 {
		w.add(Diagnosis{
			Kind: Unanswered, Severity: severity, Frames: frames, Title: "no answer to SYN",
			Text: fmt.Sprintf("%s not answered: SYNs went to %s, and nothing came back. The server may be down, a firewall may drop the SYNs, or the capture may show only one direction.",
				were(n, "TCP connection"), where),
			Advice: "ping the server, check its firewall, and capture there as well: tcpdump -i IFACE -s 0 -w trace.pcap 'tcp or icmp'. " + offloaded,
		})
	}
}

// spoilt tells of SYNs that were damaged: their receiver drops them, and their ports may be wrong.
func (w *whole) spoilt() {
	n, frames, where := w.sum(func(u *pipeline.Unopened) pipeline.Seen { return u.Spoilt })
	if n == 0 || w.SumsRight == 0 {
		return
	}
	which := fmt.Sprintf("The SYN in frame %d, to %s, has a wrong TCP checksum and got no answer. It was damaged on the way, so its", frames[0], where)
	if n > 1 {
		which = fmt.Sprintf("%s SYNs, to %s, the first in frame %d, have wrong TCP checksums and got no answer. They were damaged on the way, so their",
			Number(n), where, frames[0])
	}
	w.add(Diagnosis{
		Kind: Damaged, Severity: conformance.Note, Frames: frames, Title: "damaged SYN",
		Text:   which + " addresses and ports may be wrong. This says nothing about a server.",
		Advice: badLink,
	})
}

// were is a number with a noun and a verb.
func were(n uint64, one string) string {
	if n == 1 {
		return "1 " + one + " was"
	}
	return Number(n) + " " + one + "s were"
}

// sum adds up what became of connections to servers, and names the servers.
func (w *whole) sum(of func(*pipeline.Unopened) pipeline.Seen) (n uint64, frames []uint64, where string) {
	var servers []string
	for i := range w.Unopened {
		u := &w.Unopened[i]
		if s := of(u); s.Count > 0 {
			n += s.Count
			frames = append(frames, s.First)
			servers = append(servers, u.Server.String())
		}
	}
	return n, frames, few(servers)
}

// few lists some words, and how many more there are.
func few(words []string) string {
	const most = 5
	if len(words) > most+1 {
		words = append(slices.Clone(words[:most]), fmt.Sprintf("%d more", len(words)-most))
	}
	return list(words)
}

// rdma tells of other kinds of RDMA.
func (w *whole) rdma() {
	for _, k := range []struct {
		kind   pipeline.FrameKind
		title  string
		what   string
		advice string
	}{
		{
			pipeline.RoCEv2, "RoCEv2, not iWARP", "of RoCEv2 (InfiniBand's transport over UDP port 4791)",
			"read it with Wireshark (filter infiniband). If you expected iWARP, the adapter is set to RoCE: choose iWARP in its driver (irdma: devlink dev param, name enable_iwarp), and capture with " + tcpdump,
		},
		{
			pipeline.RoCEv1, "RoCE, not iWARP", "of RoCE version 1 (Ethernet type 0x8915)",
			"read it with Wireshark (filter infiniband). If you expected iWARP, the adapter is set to RoCE: use one that speaks iWARP, and capture with " + tcpdump,
		},
	} {
		if s := w.Seen[k.kind]; s.Count > 0 {
			w.add(Diagnosis{
				Kind: OtherRDMA, Severity: conformance.Warning, Frames: framesAt(s.First), Title: k.title, Advice: k.advice,
				Text: fmt.Sprintf("The capture holds %s %s, the first in frame %d, and no iWARP. That is another kind of RDMA, which this program does not read.",
					Counted(s.Count, "frame", "frames"), k.what, s.First),
			})
		}
	}
	n, first, where := w.carry(func(p pipeline.Protocol) bool { return p == pipeline.SMCR })
	if n > 0 {
		w.add(Diagnosis{
			Kind: OtherRDMA, Severity: conformance.Warning, Frames: framesAt(first), Title: "SMC-R, not iWARP",
			Text: fmt.Sprintf("%s SMC-R (RFC 7609) with %s, the first in frame %d: SMC-R opens on TCP but carries its data over RoCE, not over iWARP.",
				carries(n), where, first),
			Advice: "read the RoCE frames with Wireshark (filter infiniband): tcpdump -i IFACE -s 0 -w trace.pcap 'udp port 4791 or ether proto 0x8915'",
		})
	}
}

// carry adds up the TCP connections that carry some protocols, and names their servers.
func (w *whole) carry(is func(pipeline.Protocol) bool) (n, first uint64, where string) {
	var servers []string
	for i := range w.Streams {
		s := &w.Streams[i]
		if !is(s.Protocol) {
			continue
		}
		if n += s.Connections; first == 0 || s.First < first {
			first = s.First
		}
		servers = append(servers, s.Server.String())
	}
	return n, first, few(servers)
}

// links tells of link types that cannot be read.
func (w *whole) links() {
	for i := range w.Links {
		l := &w.Links[i]
		name, kind, advice := linkName(l.Type)
		w.add(Diagnosis{
			Kind: kind, Severity: conformance.Warning, Frames: framesAt(l.First), Title: "link type: " + name,
			Text:   linked(l) + ". This program does not read it.",
			Advice: advice,
		})
	}
}

// unreadLinks tells of link types that cannot be read, where others have iWARP.
func (w *whole) unreadLinks() {
	for i := range w.Links {
		l := &w.Links[i]
		name, kind, advice := linkName(l.Type)
		w.add(Diagnosis{
			Kind: kind, leads: true, Severity: conformance.Note, Frames: framesAt(l.First), Title: "link type: " + name,
			Text:   linked(l) + ". This program does not read it. What is missing from connections may be in these frames.",
			Advice: advice,
		})
	}
}

func have(n uint64) string {
	if n == 1 {
		return "1 frame has"
	}
	return Number(n) + " frames have"
}

// apart are the protocols that have a diagnosis of their own.
var apart = []pipeline.Protocol{pipeline.Unrecognized, pipeline.Unseen, pipeline.SMCR, pipeline.HalfRequest, pipeline.FewOctets}

// streams tells what TCP connections carry that is not iWARP.
func (w *whole) streams() {
	w.unknown()
	w.halfRequests()
	var plain, secret []pipeline.Stream
	for _, s := range w.Streams {
		switch {
		case s.Protocol.Encrypted():
			secret = append(secret, s)
		case !slices.Contains(apart, s.Protocol):
			plain = append(plain, s)
		}
	}
	if len(plain) > 0 {
		n, first, what := named(plain)
		w.add(Diagnosis{
			Kind: OtherTCP, Severity: conformance.Warning, Frames: framesAt(first), Title: "no iWARP",
			Text: fmt.Sprintf("%s something other than iWARP: %s. None begins with an MPA Request.", carries(n), what),
			Advice: "check that the application uses RDMA at all (for NFS the mount option proto=rdma, for NVMe the transport rdma, for iSCSI the iser transport), and capture all TCP traffic, starting before it connects: " +
				tcpdump + ". " + offloaded,
		})
	}
	w.encrypted(secret)
}

// encrypted tells of what nobody can read.
func (w *whole) encrypted(secret []pipeline.Stream) {
	seen := w.Seen[pipeline.IPsec].Count + w.Seen[pipeline.WireGuard].Count + w.Seen[pipeline.MACsec].Count
	if len(secret) == 0 && seen == 0 {
		return
	}
	n, first, what := named(secret)
	var parts []string
	if n > 0 {
		parts = append(parts, fmt.Sprintf("%s (%s)", Counted(n, "TCP connection", "TCP connections"), what))
	}
	for _, k := range []struct {
		kind pipeline.FrameKind
		name string
	}{{pipeline.IPsec, "IPsec"}, {pipeline.WireGuard, "WireGuard"}, {pipeline.MACsec, "MACsec"}} {
		if s := w.Seen[k.kind]; s.Count > 0 {
			parts = append(parts, Counted(s.Count, "frame", "frames")+" of "+k.name)
			if first == 0 || s.First < first {
				first = s.First
			}
		}
	}
	advice := "iWARP does not run inside TLS or SSH. If such a connection tunnels it, capture where the tunnel ends; otherwise capture all TCP traffic: " + tcpdump
	if seen > 0 {
		advice = "capture at an end of the tunnel, on the interface where the packets are not encrypted: " + tcpdump
	}
	w.add(Diagnosis{
		Kind: Encrypted, Severity: conformance.Warning, Frames: framesAt(first), Title: "encrypted",
		Text:   fmt.Sprintf("The capture holds encrypted traffic, the first in frame %d: %s. If there is iWARP inside, it cannot be seen here.", first, list(parts)),
		Advice: advice,
	})
}

func carries(n uint64) string {
	if n == 1 {
		return "1 TCP connection carries"
	}
	return Number(n) + " TCP connections carry"
}

// named names the protocols of streams with their servers, and counts the connections.
func named(streams []pipeline.Stream) (n, first uint64, what string) {
	slices.SortStableFunc(streams, func(a, b pipeline.Stream) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), cmp.Compare(b.Connections, a.Connections), a.Server.Compare(b.Server))
	})
	var words []string
	for i := 0; i < len(streams); {
		p := streams[i].Protocol
		var servers []string
		for ; i < len(streams) && streams[i].Protocol == p; i++ {
			s := &streams[i]
			n += s.Connections
			if first == 0 || s.First < first {
				first = s.First
			}
			servers = append(servers, s.Server.String())
		}
		words = append(words, fmt.Sprintf("%v with %s", p, few(servers)))
	}
	return n, first, strings.Join(words, "; ")
}

// unknown tells of TCP connections with data that begin neither with an MPA Request nor with
// anything else that is known.
func (w *whole) unknown() {
	var late, cut, n, first uint64
	var servers []netip.AddrPort
	for i := range w.Streams {
		s := &w.Streams[i]
		if s.Protocol != pipeline.Unrecognized || s.Connections == 0 {
			continue
		}
		n, late, cut = n+s.Connections, late+s.Late, cut+s.Cut
		if first == 0 || s.First < first {
			first = s.First
		}
		servers = append(servers, s.Server)
	}
	if n == 0 {
		return
	}
	var names []string
	for _, s := range servers {
		names = append(names, s.String())
	}
	ports := fmt.Sprintf("if it is iWARP, give its port: --decode-as tcp.port==%d,iwarp_mpa", servers[0].Port())
	d := Diagnosis{
		Kind: OtherTCP, Severity: conformance.Warning, Frames: framesAt(first), Title: "no MPA Request",
		Text: fmt.Sprintf("%s data without an MPA Request: with %s, the first in frame %d. The protocol is not known, but it does not begin as iWARP does.",
			carries(n), few(names), first),
		Advice: "check that the application uses RDMA at all; " + ports,
	}
	if cut > 0 {
		d.Kind, d.Title = SnapLength, "cut by the snap length"
		d.Text = fmt.Sprintf("%s data without an MPA Request that could be read: with %s, the first in frame %d. The snap length cut off octets of %s, so it is not known whether this is iWARP.",
			carries(n), few(names), first, Counted(cut, "of these connections", "of these connections"))
		d.Advice = "capture whole frames: " + tcpdump + "; " + ports
	} else if late > 0 {
		d.Kind, d.Title = LateStart, "started before the capture"
		d.Text = fmt.Sprintf("%s data without an MPA Request: with %s, the first in frame %d. The capture does not hold the start of %s, and no FPDUs were found, so it is not known whether this is iWARP.",
			carries(n), few(names), first, Counted(late, "of these connections", "of these connections"))
		d.Advice = "start the capture before the application connects: " + tcpdump + "; " + ports
	}
	w.add(d)
}

// halfRequests tells of TCP connections that end, or of which the capture ends, in the key of an MPA Request.
func (w *whole) halfRequests() {
	for _, x := range []struct {
		of          pipeline.Protocol
		kind        Kind
		title, text string
	}{
		{
			pipeline.HalfRequest, StartupUnanswered, "ends in the middle of the MPA Request",
			"%s the first octets of an MPA Request and nothing after them: with %s, the first in frame %d.",
		},
		{
			pipeline.FewOctets, OtherTCP, "too little data to tell what it is",
			"%s only one to three octets, those with which an MPA Request begins: with %s, the first in frame %d. So few octets may also be something else.",
		},
	} {
		n, first, where := w.carry(func(p pipeline.Protocol) bool { return p == x.of })
		if n == 0 {
			continue
		}
		w.add(Diagnosis{
			Kind: x.kind, Severity: conformance.Warning, Frames: framesAt(first), Title: x.title, Text: fmt.Sprintf(x.text, carries(n), where, first),
			Advice: "check whether the capture goes on for long enough; if it does, " + checkLog("initiator"),
		})
	}
}

// oneWay tells of TCP connections of which one direction was captured.
func (w *whole) oneWay() {
	if n := w.OneWay.Count; n > 0 {
		w.add(Diagnosis{
			Kind: OneDirection, Severity: conformance.Warning, Frames: framesAt(w.OneWay.First), Title: "one direction only",
			Text:   fmt.Sprintf("Only one direction of %s with data was captured, the first in frame %d.", Counted(n, "TCP connection", "TCP connections"), w.OneWay.First),
			Advice: bothDirections + tcpdump,
		})
	}
}

// cut tells of a snap length that leaves nothing to read.
func (w *whole) cut() {
	n, first, _ := w.carry(func(p pipeline.Protocol) bool { return p == pipeline.Unseen })
	if n+w.Truncated == 0 || w.Totals.Cut == 0 {
		return
	}
	what, short := "TCP", "nothing is left of what they carry"
	if w.SCTP > 0 {
		what = "TCP and SCTP"
	}
	cut, all := w.Emptied+w.Headless, Counted(w.TCP+w.SCTP+w.Headless, "packet", "packets")+" of "+what
	if cut == 0 { // not even that is known of them
		cut, all, short = w.Truncated, Counted(w.Frames, "frame", "frames"), "nothing shows what they carry"
	}
	w.add(Diagnosis{
		Kind: SnapLength, Severity: conformance.Warning, Frames: framesAt(first), Title: "cut by the snap length",
		Text: fmt.Sprintf("The snap length cut %s of %s so short that %s: frames have %s on average, of which %s were captured.",
			Number(cut), all, short, octets(w.Octets/w.Frames), Number(w.Captured/w.Frames)),
		Advice: "capture whole frames: " + tcpdump,
	})
}

// nothing tells of a capture that holds nothing of interest.
func (w *whole) nothing() {
	d := Diagnosis{Kind: Nothing, Severity: conformance.Warning, Title: "no iWARP", Advice: "capture all TCP traffic, starting before the application connects: " + tcpdump + ". " + offloaded}
	switch {
	case w.Frames == 0 && w.live:
		d.Title = "empty"
		d.Text = "No frame was captured."
		d.Advice = "check that this interface carries the traffic ('iwdissect live -D' lists the interfaces) and that the capture filter lets it through, and capture for longer. " + offloaded
	case w.Frames == 0 && w.Lost.Any():
		d.Title = "empty, packets lost by the capture"
		d.Text, d.Advice = LostPackets(w.Totals)+" It holds no frames.", moreRoom
	case w.Frames == 0:
		d.Title = "empty"
		d.Text = "The capture holds no frames."
	case w.Idle.Count > 0:
		d.Frames = framesAt(w.Idle.First)
		d.Text = fmt.Sprintf("%s no data, so there is no iWARP in the capture.", carries(w.Idle.Count))
	case w.SCTP > 0:
		d.Text = fmt.Sprintf("The capture holds %s of SCTP, but no DDP in them.", Counted(w.SCTP, "packet", "packets"))
	default:
		var parts []string
		for _, k := range []struct {
			kind pipeline.FrameKind
			what string
		}{{pipeline.OtherUDP, "UDP"}, {pipeline.OtherIP, "IP without TCP, SCTP and UDP"}, {pipeline.OtherNetwork, "other protocols than IP"}} {
			if s := w.Seen[k.kind]; s.Count > 0 {
				parts = append(parts, fmt.Sprintf("%s of %s", Number(s.Count), k.what))
			}
		}
		d.Text = fmt.Sprintf("The capture holds %s, but neither TCP nor SCTP, which carry iWARP", Counted(w.Frames, "frame", "frames"))
		if len(parts) > 0 {
			d.Text += ": " + list(parts)
		}
		d.Text += "."
	}
	w.add(d)
}
