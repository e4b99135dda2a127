package fields

import "strings"

// checksumStates are what Wireshark calls the values of the fields ending in checksum.status.
var checksumStates = map[uint64]string{0: "Bad", 1: "Good", 2: "Unverified", 3: "Not present"}

// aliases are the names that Wireshark 4.0 has for values where ours, which are those of
// the RFCs, are others, or where a search of ours does not come to the value, for it is too
// large. A test holds them against tshark.
var aliases = map[string]map[uint64]string{
	"iwarp_rdma.opcode":           {0: "Write", 1: "Read Request", 2: "Read Response"},
	"iwarp_rdma.term_layer":       {0: "RDMA", 2: "LLP"},
	"iwarp_rdma.term_etype_ddp":   {3: "Reserved for the use by the LLP"},
	"iwarp_rdma.term_errcode_llp": {2: "MPA CRC Error", 3: "MPA Marker and ULPDU Length field mismatch", 4: "Invalid MPA Request Frame or MPA Response Frame"},
	"iwarp_rdma.term_errcode_rdma": {
		0xff: "Unspecific Error",
	},
	"iwarp_rdma.term_errcode_ddp_untagged": {
		2: "Invalid MSN - no buffer available", 3: "Invalid MSN - MSN range is not valid", 5: "DDP Message too long for available buffer",
	},
	"_ws.expert.severity": {0x100000: "Comment", severityChat: "Chat", severityNote: "Note", severityWarn: "Warning", 0x800000: "Error"},
	"_ws.expert.group":    {groupSequence: "Sequence", 0x7000000: "Malformed", 0x9000000: "Protocol"},
	"ip.checksum.status":  checksumStates,
	"tcp.checksum.status": checksumStates,
	"sctp.data_u_bit":     {0: "Ordered delivery", 1: "Unordered delivery"},
}

// Alias gives the value of a field to which Wireshark gives a name, where Names has
// another one. Upper and lower case are the same.
func Alias(f *Field, name string) (uint64, bool) {
	for n, alias := range aliases[f.Name] {
		if strings.EqualFold(alias, name) {
			return n, true
		}
	}
	return 0, false
}

// instead are fields of ours that tell what those of Wireshark tell that are not here.
var instead = map[string]string{
	"iscsi.request_frame":      "iwd.ulp.request_frame",
	"iscsi.time":               "iwd.ulp.latency_ns",
	"nfs.opcode":               "nfs.main_opcode",
	"nfs.status":               "nfs.nfsstat4",
	"nvme.cmd_latency":         "iwd.ulp.latency_ns",
	"nvme.cmd_pkt":             "iwd.ulp.request_frame",
	"nvme.fabrics.cmd_latency": "iwd.ulp.latency_ns",
	"nvme.fabrics.cmd_pkt":     "iwd.ulp.request_frame",
	"rpc.reqframe":             "iwd.ulp.request_frame",
	"rpc.time":                 "iwd.ulp.latency_ns",
	"smb2.response_to":         "iwd.ulp.request_frame",
	"smb2.time":                "iwd.ulp.latency_ns",
}

// Instead names the field that tells what a field of Wireshark would that is not here, where
// their names are not alike; "" if there is none.
func Instead(name string) string { return instead[strings.ToLower(name)] }
