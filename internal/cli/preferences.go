package cli

import (
	"slices"
	"strings"
)

// preference is one of tshark that means something here.
type preference struct {
	name string
	// value is what holds here always; empty: it can be chosen.
	value string
	// means says what holds, or which flag decides instead.
	means string
}

const relativeNumbers = "tcp.relative_sequence_numbers"

var knownPreferences = []preference{
	{name: relativeNumbers},
	{"tcp.reassemble_out_of_order", "TRUE", "streams are always put in order"},
	{"tcp.desegment_tcp_streams", "TRUE", "streams are always assembled"},
	{"tcp.try_heuristic_first", "TRUE", "what a connection carries is always found by its content"},
	{"tcp.analyze_sequence_numbers", "TRUE", "sequence numbers are always looked at"},
	{"tcp.calculate_timestamps", "TRUE", "times are always known"},
	{"tcp.check_checksum", "", "check and analyze verify checksums by themselves; tcp.checksum.status is always 2"},
	{"iwarp_ddp_rdmap.reassemble_iwarp_rdma_send", "TRUE", "messages are always assembled"},
	{"ip.defragment", "TRUE", "fragments are always assembled"},
	{"ipv6.defragment", "TRUE", "fragments are always assembled"},
	{"nameres.network_name", "FALSE", "names are never resolved"},
	{"nameres.mac_name", "FALSE", "names are never resolved"},
	{"nameres.transport_name", "FALSE", "names are never resolved"},
}

// preferenceWords are what completes -o.
func preferenceWords() []string {
	all := make([]string, 0, len(knownPreferences))
	for _, p := range knownPreferences {
		v := p.value
		if v == "" {
			v = "FALSE"
		}
		all = append(all, p.name+":"+v)
	}
	return all
}

// preferences reads -o: what holds anyway is taken, the rest is refused with the flag that
// decides. absolute: sequence numbers are shown as they stand in the header.
func preferences(list []string) (absolute bool, err error) {
	for _, o := range list {
		name, v, ok := strings.Cut(o, ":")
		name, v = strings.TrimSpace(name), strings.ToUpper(strings.TrimSpace(v))
		if !ok {
			return absolute, usagef("-o takes NAME:VALUE, not %q", o)
		}
		i := slices.IndexFunc(knownPreferences, func(p preference) bool { return p.name == name })
		if i < 0 {
			return absolute, unknownPreference(name)
		}
		p := &knownPreferences[i]
		switch {
		case v != "TRUE" && v != "FALSE":
			return absolute, usagef("-o %s takes TRUE or FALSE, not %q", name, v)
		case name == relativeNumbers:
			absolute = v == "FALSE"
		case p.value != "" && v != p.value:
			return absolute, usagef("-o %s:%s: %s", name, v, p.means)
		}
	}
	return absolute, nil
}

// unknownPreference names the flag that does what a preference is for.
func unknownPreference(name string) error {
	flag := ""
	switch {
	case strings.HasSuffix(name, ".port") || strings.HasSuffix(name, ".ports"):
		flag = "; -d tcp.port==PORT,iwarp_mpa has a port treated as iWARP"
	case strings.HasPrefix(name, "iwarp"):
		flag = "; --mpa-layout and -d say how iWARP is read"
	case strings.HasPrefix(name, "gui.column") || strings.HasPrefix(name, "column"):
		flag = "; -T fields -e NAME chooses columns"
	case strings.HasPrefix(name, "gui."):
		flag = "; -t says how times are shown, --color what is coloured"
	}
	return usagef("-o %s: there is no such preference here%s", name, flag)
}
