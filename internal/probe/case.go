package probe

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/peer"
	"github.com/iwdissect/iwdissect/internal/scenario"
	"github.com/iwdissect/iwdissect/internal/synth"
	"github.com/iwdissect/iwdissect/internal/synth/rnic"
	"github.com/iwdissect/iwdissect/internal/synth/startup"
)

// Role is what the peer under test is in the startup.
type Role uint8

// The roles.
const (
	// Responder answers the MPA Request of the probe.
	Responder Role = 1 << iota
	// Initiator connects and sends the MPA Request.
	Initiator
)

// String is the word for a role.
func (r Role) String() string {
	switch r {
	case Responder:
		return "responder"
	case Initiator:
		return "initiator"
	}
	return "both"
}

// Need is something without which a case cannot be judged.
type Need uint8

// The needs.
const (
	// NeedMemory: the peer advertises memory that may be read and written.
	NeedMemory Need = 1 << iota
	// NeedReads: the peer takes Reads and atomics, so that the ORD of the probe is not 0.
	NeedReads
	// NeedCRC: CRCs were agreed on.
	NeedCRC
	// NeedNoCRC: no CRCs were agreed on.
	NeedNoCRC
	// NeedEnhanced: the peer knows the enhanced startup of RFC 6581.
	NeedEnhanced
)

// Case is one test.
type Case struct {
	// Name is unique; Group is that of the file.
	Name, Group string
	// Sends says what the probe does, Demands what the RFC wants of the peer, in plain words.
	Sends, Demands string
	// Rules are ids: the first is broken if the peer answers otherwise. Spec and Section are
	// where it stands.
	Rules         []string
	Spec, Section string
	// Tests are the roles that the case is for.
	Tests Role
	Needs Need
	// Rests are names of cases: if the peer answered one of them wrongly this one would fail for
	// the same reason, and is not played.
	Rests []string
	// Answers are those that keep the rule. Declines are those of a peer that lacks
	// something it need not have: nothing is judged then.
	Answers, Declines []Answer
	// Shows are display filters, each of which a PDU of the peer has to match; none may match one
	// of Misses.
	Shows, Misses []string
	// Allows are rules that the peer may break, because the probe made it.
	Allows []string
	// Cut cuts what the probe writes.
	Cut peer.Cut
	// File and Line are where it stands.
	File string
	Line int

	scenario *scenario.Scenario
	// ownStartup: it says itself which revision and dialect the probe has.
	ownStartup bool
}

// Kind is how a peer can answer.
type Kind uint8

// The kinds of answers.
const (
	// GoesOn: all steps were done, and the connection was open until the probe closed it.
	GoesOn Kind = iota
	// Follows: the same, and then the peer closed as well.
	Follows
	// Terminates: a Terminate came.
	Terminates
	// Rejects: the Reply had R=1.
	Rejects
	// Closes: the connection was closed, or reset, without a Terminate.
	Closes
	// Silence: nothing came, and the connection stayed open.
	Silence
	// NoCommonRTR: the Reply takes no ready-to-receive indication that the probe offers, and
	// the probe ended the connection with the Terminate for that.
	NoCommonRTR
	// Stuck: a step that the peer had to do its part in was not done.
	Stuck
	// Unacceptable: the startup frame of the peer, or a message of it, is wrong.
	Unacceptable
)

// Answer is an answer of the peer: one that is demanded, or that came.
type Answer struct {
	Kind Kind
	// Code is that of a Terminate; of one that is demanded so many numbers are known, from
	// the layer on.
	Code  [3]int
	Known int
	// Text says what came.
	Text string
}

// keeps reports whether the answer is one of those.
func (a Answer) keeps(all []Answer) bool {
	for _, w := range all {
		if w.Kind != a.Kind && !(w.Kind == GoesOn && a.Kind == Follows) {
			continue
		}
		same := true
		for i := range w.Known {
			same = same && w.Code[i] == a.Code[i]
		}
		if same {
			return true
		}
	}
	return false
}

// String says it as a case does, or what came.
func (a Answer) String() string {
	if a.Text != "" {
		return a.Text
	}
	switch a.Kind {
	case GoesOn:
		return "the connection goes on"
	case Follows:
		return "the peer closes as well"
	case NoCommonRTR:
		return "a Reply that takes another ready-to-receive indication"
	case Terminates:
		return "a Terminate" + code(a)
	case Rejects:
		return "a rejecting Reply"
	case Closes:
		return "the end of the TCP connection without a Terminate"
	case Silence:
		return "silence"
	case Stuck, Unacceptable:
	}
	return "something wrong"
}

func code(a Answer) string {
	switch a.Known {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" of layer %x", a.Code[0])
	case 2:
		return fmt.Sprintf(" %x/%x", a.Code[0], a.Code[1])
	}
	return fmt.Sprintf(" %x/%x/%02x", a.Code[0], a.Code[1], a.Code[2])
}

// waits reports whether all right answers end the connection.
func (c *Case) waits() bool {
	for _, a := range c.Answers {
		if a.Kind == GoesOn || a.Kind == Follows || a.Kind == NoCommonRTR {
			return false
		}
	}
	return true
}

// terminates reports whether the probe sends a Terminate on purpose.
func (c *Case) terminates() bool {
	for _, s := range c.scenario.Script(false).Timeline {
		if s.Verb == synth.Post && s.Work.Op == rnic.OpTerminate {
			return true
		}
	}
	return false
}

// Regions by which cases name the memory of the peer.
const (
	// RegionPeer begins where the memory does, RegionEnd so many octets before its end.
	RegionPeer = "peer"
	RegionEnd  = "peer_end"
	endSize    = 8
	// leastMemory is what of it cases need, in octets.
	leastMemory = 16 << 10
)

// closeListens is how many times as long a close is waited for as a Terminate.
const closeListens = 4

// lineOfEnd marks the step that waits for the end, lineOfBind the one that waits for what names
// the memory of the peer, which no case has.
const (
	lineOfEnd  = -1
	lineOfBind = -2
)

// script is the script of the case for a peer.
func (o *Options) script(c *Case, rev1 bool) *synth.Script {
	s := c.scenario.Script(false)
	conn := &s.Connections[0]
	own := &conn.Hosts[synth.Client].RNIC.Startup
	if len(own.Private) == 0 {
		own.Private = o.Private
	}
	if o.Role == Initiator {
		conn.Initiator = synth.Server
	}
	if rev1 && !c.ownStartup {
		for i := range conn.Hosts {
			c := &conn.Hosts[i].RNIC.Startup
			plain(c)
			c.ORD = min(c.ORD, 1) // nothing tells how many Reads the peer takes
		}
	}
	if o.Memory == nil && c.Needs&NeedMemory != 0 {
		s.Timeline = bound(s.Timeline, o.Advert)
		o.Advert.invites(own, o.Role)
	}
	if c.waits() {
		if last := &s.Timeline[len(s.Timeline)-1]; last.Verb == synth.Post {
			last.Ahead = true // its answer is the end of the connection
		}
		end := synth.Step{Verb: synth.Expect, From: synth.Client, Expect: synth.Expected{What: synth.ExpectEnd}, Place: synth.Place{Line: lineOfEnd}}
		// A Terminate that comes later is still heard when the probe has closed. A close is not
		// told from that of a peer that follows then.
		if end.For = int64(o.Listen); slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Kind == Closes }) {
			end.For *= closeListens
		}
		s.Timeline = append(s.Timeline, end)
	}
	return s
}

// Advert is where a peer names its memory.
type Advert struct {
	// Send: in its first Send, else in the private data of its startup frame.
	Send bool
	// Layout is one of those of package peer, "" for [peer.LayoutIwprobe].
	Layout string
}

// step waits for what names the memory of the peer, and binds it.
func (a Advert) step(conn string) synth.Step {
	x := synth.Expected{What: synth.ExpectPrivate}
	if a.Send {
		x.What = synth.ExpectSend
	}
	for _, b := range []synth.Binding{{Region: RegionPeer}, {Region: RegionEnd, Tail: endSize}} {
		b.Layout = cmp.Or(a.Layout, peer.LayoutIwprobe)
		x.Binds = append(x.Binds, b)
	}
	return synth.Step{Verb: synth.Expect, Conn: conn, From: synth.Client, Expect: x, Place: synth.Place{Line: lineOfBind}}
}

// invites has the probe send a ready-to-receive indication: a responder sends nothing before
// something has come. It is no Read, whose answer the case might take for one of its own.
func (a Advert) invites(c *startup.Config, role Role) {
	if a.Send && role == Responder {
		c.PeerToPeer, c.RTR = true, mpa.RTRWrite|mpa.RTRSend
	}
}

// bound adds the step that binds the memory of the peer behind the startup.
func bound(steps []synth.Step, a Advert) (out []synth.Step) {
	done := false
	for _, s := range steps {
		out = append(out, s)
		if !done && (s.Verb == synth.Connect || s.Verb == synth.Start) {
			done = true
			out = append(out, a.step(s.Conn))
		}
	}
	return out
}
