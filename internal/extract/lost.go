package extract

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/iwdissect/iwdissect/internal/pcapng"
)

// The types of pcapng blocks that are told apart here (draft-ietf-opsawg-pcapng section 11.1),
// and where the length of a section is in its header, in octets.
const (
	kindSection    = 0x0a0d0d0a
	kindInterface  = 1
	kindNames      = 4
	kindStatistics = 5
	kindSecrets    = 10
	kindCustom     = 0x0bad
	kindCustomKeep = 0x40000bad

	sectionLength = 16
)

// kind is the type of a block, in either byte order.
func kind(b []byte) uint32 {
	k := binary.LittleEndian.Uint32(b)
	switch swapped := bits.ReverseBytes32(k); swapped {
	case kindInterface, kindNames, kindStatistics, kindSecrets, kindCustom, kindCustomKeep:
		return swapped
	}
	return k
}

// lost counts what a copy does not have.
type lost struct {
	comments, untimed                          uint64
	names, statistics, secrets, custom, others int
	uncopied                                   int
	// patched: the words that a patched libpcap adds to each packet.
	patched bool
	// ifaces are the interfaces of the records of a section, before those of the sections
	// before it.
	ifaces  map[int]bool
	section int
	before  int
}

// block takes note of a block that is not copied.
func (l *lost) block(b []byte) {
	switch kind(b) {
	case kindSection, kindInterface: // see record
	case kindNames:
		l.names++
	case kindStatistics:
		l.statistics++
	case kindSecrets:
		l.secrets++
	case kindCustom, kindCustomKeep:
		l.custom++
	default:
		l.others++
	}
}

// record takes note of what a record has that its copy in a pcap file has not.
func (l *lost) record(rec *pcapng.Record) {
	l.comments += uint64(len(rec.Comments))
	if rec.NoTime {
		l.untimed++
	}
	if l.ifaces == nil || rec.Section != l.section {
		l.before, l.section, l.ifaces = l.before+len(l.ifaces), rec.Section, map[int]bool{}
	}
	l.ifaces[rec.Interface] = true
}

// words says what was lost.
func (l *lost) words() (all []string) {
	say := func(n uint64, one, many string) {
		switch {
		case n == 1:
			all = append(all, "1 "+one)
		case n > 1:
			all = append(all, fmt.Sprintf("%d %s", n, many))
		}
	}
	count := func(n int) uint64 { return uint64(max(n, 0)) }
	say(l.comments, "comment of a packet", "comments of packets")
	if n := l.before + len(l.ifaces); n > 1 {
		all = append(all, fmt.Sprintf("which of %d interfaces a frame is from", n))
	}
	say(count(l.names), "block of names", "blocks of names")
	say(count(l.secrets), "block of secrets", "blocks of secrets")
	say(count(l.statistics), "block of statistics", "blocks of statistics")
	say(count(l.custom), "custom block", "custom blocks")
	say(count(l.others), "block of another kind", "blocks of other kinds")
	say(count(l.uncopied), "custom block that must not be copied", "custom blocks that must not be copied")
	say(l.untimed, "frame has the time 0, as it had none", "frames have the time 0, as they had none")
	if l.patched {
		all = append(all, "interface, protocol and type that a patched libpcap wrote with each packet")
	}
	return all
}
