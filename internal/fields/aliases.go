package fields

import "strings"

// aliases are the names that Wireshark 4.0 has for values where ours, which are those of
// the RFCs, are others. A test holds them against tshark.
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
	"sctp.data_u_bit": {0: "Ordered delivery", 1: "Unordered delivery"},
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
