package statistics

import (
	"strings"

	"github.com/iwdissect/iwdissect/internal/strictyaml"
)

// Kind is a statistic that -z takes.
type Kind struct {
	// Name is what it is called, such as "conv,tcp". Usage is how it is written, with what
	// may follow, and Says what it shows, in a few words.
	Name, Usage, Says string
	// make makes the tap. args is what follows the name, without the comma, or "".
	make func(s *spec, args string) error
	// words says which words may follow the name in place of a filter, "" for none.
	words string
}

// typeWords are those of the types of hosts.
func typeWords() string {
	names := make([]string, 0, len(hostTypes))
	for _, t := range hostTypes {
		names = append(names, t.name)
	}
	last := len(names) - 1
	return "types are " + strings.Join(names[:last], ", ") + " and " + names[last]
}

// Kinds are all statistics, in the order of -z help. A new one is a line here: its tap
// implements some of the interfaces of tap.go.
func Kinds() []Kind {
	kinds := []Kind{
		{"conv", "conv[,filter]", "conversations of each kind below that the capture has", makeConv(""), typeWords()},
	}
	for _, t := range hostTypes {
		kinds = append(kinds, Kind{"conv," + t.name, "conv," + t.name + "[,filter]", t.title + " conversations: frames and octets each way, when, how long", makeConv(t.name), ""})
	}
	kinds = append(kinds, Kind{"endpoints", "endpoints[,filter]", "endpoints of each kind below that the capture has", makeEndpoints(""), typeWords()})
	for _, t := range hostTypes {
		kinds = append(kinds, Kind{"endpoints," + t.name, "endpoints," + t.name + "[,filter]", t.title + " endpoints: frames and octets sent and received", makeEndpoints(t.name), ""})
	}
	return append(
		kinds,
		Kind{"expert", "expert[,error|warn|note][,filter]", "findings by rule, with their number", makeExpert, "severities are error, warn and note"},
		Kind{"io,phs", "io,phs[,filter]", "frames and octets by protocol", makeHierarchy, ""},
		Kind{"io,stat", "io,stat,interval[,filter|CALC(field)filter]...", "frames and octets over time, or COUNT, SUM, MIN, MAX, AVG, LOAD of a field", makeIOStat, ""},
		Kind{"mpa,align", "mpa,align[,filter]", "FPDUs against TCP segments, and where the octets of the wire go", makeAlign, ""},
		Kind{"mpa,crc", "mpa,crc[,filter]", "CRCs of FPDUs: right, wrong, not known, not in use", makeCRC, ""},
		Kind{"mpa,startup", "mpa,startup[,filter]", "how connections started: revision, CRC, markers, outcome, latency", makeStartup, ""},
		Kind{"rdma,depth", "rdma,depth[,interval][,filter]", "outstanding Reads and atomics over time, against IRD and ORD", makeDepth, ""},
		Kind{"rdma,rate", "rdma,rate[,interval][,filter]", "throughput and operations per second over time", makeRate, ""},
		Kind{"rdma,size", "rdma,size[,filter]", "sizes of messages by opcode", makeSize, ""},
		Kind{"rdma,srt", "rdma,srt[,filter]", "response times of Reads, atomics, Sends and startups", makeSRT, ""},
		Kind{"ulp,srt", "ulp,srt[,filter]", "response times of NVMe/RDMA and other upper layers by operation", makeUpper, ""},
	)
}

// find finds the statistic that an argument of -z names, and what follows its name.
func find(arg string) (k Kind, args string, ok bool) {
	for _, each := range Kinds() {
		rest, is := strings.CutPrefix(arg, each.Name)
		if is && len(each.Name) >= len(k.Name) && (rest == "" || rest[0] == ',') {
			k, args, ok = each, strings.TrimPrefix(rest, ","), true
		}
	}
	return k, args, ok
}

// near returns the name of the statistic that was most likely meant, or those that begin
// with the same word; "" if there is none.
func near(arg string) string {
	if arg == "" {
		return ""
	}
	names := make([]string, 0, len(Kinds()))
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	parts := strings.Split(arg, ",")
	switch parts[0] { // tshark has one for each upper layer
	case "rpc", "scsi", "smb", "smb2":
		return "ulp,srt"
	}
	for n := min(len(parts), 2); n > 0; n-- {
		word := strings.Join(parts[:n], ",")
		if name := strictyaml.Nearest(word, names); name != "" {
			return name
		}
		var group []string
		for _, name := range names {
			first, second, _ := strings.Cut(name, ",")
			if word == second {
				return name
			}
			if n == 1 && word == first {
				group = append(group, name)
			}
		}
		if last := len(group) - 1; last > 0 {
			return strings.Join(group[:last], ", ") + " or " + group[last]
		} else if last == 0 {
			return group[0]
		}
	}
	return ""
}
