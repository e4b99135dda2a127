package iwdissect

import (
	"context"
	"errors"
	"fmt"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/mpa"
	"github.com/iwdissect/iwdissect/internal/pipeline"
)

// Option changes how a capture is read. A nil Option changes nothing.
type Option func(*settings) error

// settings are what the options say.
type settings struct {
	ctx             context.Context // of every pass over the capture
	opt             pipeline.Options
	upper           bool
	filter          string // if filters
	filters         bool
	enable, disable []string
}

// WithContext ends a range when ctx is done: the range yields ctx.Err() and stops.
// It takes effect between two frames. A Read that blocks is not interrupted; close
// what it reads from to end it. Nor is a source that waits for the next frame: see
// [layers.Source] for one that reads from a live handle.
func WithContext(ctx context.Context) Option {
	return func(s *settings) error {
		if ctx == nil {
			return errors.New("iwdissect: WithContext takes a context, not nil")
		}
		s.ctx = ctx
		return nil
	}
}

// DecodeAs treats connections on these TCP ports as iWARP, like "Decode As" in
// Wireshark. Without it a connection is iWARP when its octets show that: startup
// frames of MPA (RFC 5044 section 7.1), or FPDUs whose CRCs, markers or headers leave
// no doubt. It is needed when the capture has neither.
func DecodeAs(ports ...uint16) Option {
	return func(s *settings) error {
		s.opt.DecodeAs = append(s.opt.DecodeAs, ports...)
		return nil
	}
}

// ForceLayout reads the enhanced data of startup frames as [mpa.LayoutRFC6581] (RFC
// 6581 section 9) or as [mpa.LayoutDraft01] (draft-ietf-storm-mpa-peer-connect-01),
// on all connections and whatever they show. Without it the layout is that of RFC
// 6581, and that of the draft on a connection whose ends show that they implement
// the draft.
func ForceLayout(l mpa.Layout) Option {
	return func(s *settings) error {
		if l != mpa.LayoutRFC6581 && l != mpa.LayoutDraft01 {
			return fmt.Errorf("iwdissect: %v is not a layout that can be forced", l)
		}
		s.opt.Layout, s.opt.Forced = l, true
		return nil
	}
}

// WithUpperLayers recognises what connections carry: SMB Direct, NVMe/RDMA,
// RPC-over-RDMA with NFS, iSER. It sets [trace.PDU.Upper] and [trace.Connection.Upper].
// Only headers are read.
func WithUpperLayers() Option {
	return func(s *settings) error {
		s.upper = true
		return nil
	}
}

// Limits bound a pass. 0 stands for the default.
type Limits struct {
	// Frames ends the pass after that many frames; by default it reads all.
	Frames uint64
	// Connections is how many connections are followed at the same time, iWARP or not.
	// When there are more, those seen least recently are ended, see [Totals.Evicted].
	// Default 100,000.
	Connections int
	// ReorderBytes is how many octets of one direction of a connection may wait for
	// octets before them, TotalReorderBytes how many of all directions. When there are
	// more, the hole before them becomes a gap. Default 4 MiB and 64 MiB.
	ReorderBytes, TotalReorderBytes int
	// UnfinishedBytes is how many octets of FPDUs that are not complete yet may be kept.
	// When there are more, a direction loses its place, see [Totals.Starved]. Default
	// 256 MiB.
	UnfinishedBytes int
	// MemoryBytes is how much a pass may keep of connections, requests, findings and
	// records, besides ReorderBytes and UnfinishedBytes: an estimate of their size, to which a
	// garbage collector adds about as much. When there is more, connections are ended, see
	// [Totals.Evicted]. Default 1 GiB.
	MemoryBytes int
}

// WithLimits sets bounds.
func WithLimits(l Limits) Option {
	return func(s *settings) error {
		if l.Connections < 0 || l.ReorderBytes < 0 || l.TotalReorderBytes < 0 || l.UnfinishedBytes < 0 || l.MemoryBytes < 0 {
			return fmt.Errorf("iwdissect: a limit is negative: %+v", l)
		}
		s.opt.Count, s.opt.MaxConnections, s.opt.DecoderBytes = l.Frames, l.Connections, l.UnfinishedBytes
		s.opt.ReorderBytes, s.opt.TotalReorderBytes, s.opt.MemoryBytes = l.ReorderBytes, l.TotalReorderBytes, l.MemoryBytes
		return nil
	}
}

// EnableRules checks only the rules that one of the patterns names. A pattern is the
// id of a rule, a glob of ids such as "DDP-UNTAG-*", or spec=, level=,
// layer= or severity= and a value, such as "layer=mpa"; see
// [conformance.Book.Named]. A pattern that names no rule is an error.
func EnableRules(patterns ...string) Option {
	return func(s *settings) error {
		s.enable = append(s.enable, patterns...)
		return known(patterns)
	}
}

// DisableRules leaves out the rules that one of the patterns names; see [EnableRules]
// for the patterns. It wins over EnableRules.
func DisableRules(patterns ...string) Option {
	return func(s *settings) error {
		s.disable = append(s.disable, patterns...)
		return known(patterns)
	}
}

func known(patterns []string) error {
	for _, p := range patterns {
		if !conformance.Catalogue().Some(p) {
			return fmt.Errorf("iwdissect: no rule is named by %q", p)
		}
	}
	return nil
}

// enabled returns a function that reports whether a rule is checked.
func (s *settings) enabled() func(*conformance.Entry) bool {
	enable, disable := conformance.Catalogue().Named(s.enable...), conformance.Catalogue().Named(s.disable...)
	return func(e *conformance.Entry) bool { return (len(s.enable) == 0 || enable(e)) && !disable(e) }
}
