package fields

import (
	"slices"
	"strings"
	"sync"

	"github.com/iwdissect/iwdissect/dissect"
	"github.com/iwdissect/iwdissect/trace"
)

// upperLabels are the protocols of upper layers, by the names under which Wireshark filters
// for them. One is there if a field of it is.
var upperLabels = []Field{
	{Name: "nvme", Label: "NVM Express", Type: None},
	{Name: "nvme-rdma", Label: "NVMe over RDMA", Type: None},
	{Name: "iser", Label: "iSCSI Extensions for RDMA", Type: None},
	{Name: "iscsi", Label: "iSCSI", Type: None},
	{Name: "smb_direct", Label: "SMB Direct", Type: None},
	{Name: "smb2", Label: "SMB2", Type: None},
	{Name: "rpcordma", Label: "RPC over RDMA", Type: None},
	{Name: "rpc", Label: "Remote Procedure Call", Type: None},
	{Name: "nfs", Label: "Network File System", Type: None},
}

// protocolOf is the protocol of a field: what stands before the first point of its name.
func protocolOf(f *dissect.Field) string {
	name, _, _ := strings.Cut(f.Name, ".")
	return name
}

// upperProtocols are those of the headers of upper layers.
var upperProtocols = sync.OnceValue(func() map[*dissect.Header][]string {
	all := map[*dissect.Header][]string{}
	for _, h := range upperHeaders() {
		seen := map[string]bool{}
		for i := range h.Fields {
			if name := protocolOf(&h.Fields[i]); !seen[name] {
				seen[name] = true
				all[h] = append(all[h], name)
			}
		}
	}
	return all
})

// Alone reports whether all of these are read from the octets of frames and of PDUs by
// themselves: what PDUs are to each other or to an upper layer makes no difference.
func Alone(list []*Field) bool {
	return !OfColumns(list) && !slices.ContainsFunc(list, func(f *Field) bool {
		return strings.HasPrefix(f.Name, "iwd.") || strings.HasPrefix(f.Name, "_ws.") || f.Name == "iwarp_mpa.privatedata" || ofUpper(f)
	})
}

// ofUpper reports whether a field is of an upper layer.
func ofUpper(f *Field) bool {
	protocol, _, _ := strings.Cut(f.Name, ".")
	return slices.ContainsFunc(upperLabels, func(l Field) bool { return l.Name == protocol })
}

// ifUpper reads whether a PDU has a field of a protocol.
func ifUpper(name string) readSingle {
	return func(c *Collector, slot int, p *trace.PDU) {
		if p.Upper != nil && hasProtocol(p.Upper, name) {
			c.row.Add(slot, Value{})
		}
	}
}

// singleOf is the function that reads a field by itself, or nil.
func singleOf(name string) readSingle {
	for i := range upperLabels {
		if upperLabels[i].Name == name {
			return ifUpper(name)
		}
	}
	return singles[name]
}

func hasProtocol(u *trace.Upper, name string) bool {
	of := upperProtocols()
	for i := range u.Headers {
		for _, n := range of[u.Headers[i].Header] {
			if n == name && len(u.Headers[i].Octets) > 0 {
				return true
			}
		}
	}
	for i := range u.Values {
		if protocolOf(u.Values[i].Field) == name {
			return true
		}
	}
	return false
}
