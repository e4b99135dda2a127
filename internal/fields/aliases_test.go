package fields

import "testing"

// TestInstead: a field that is here needs no other one, and what is named in place of one
// that is not here is here.
func TestInstead(t *testing.T) {
	for theirs, ours := range instead {
		if Find(theirs) != nil {
			t.Errorf("%s is here, and %s stands for it", theirs, ours)
		}
		if Find(ours) == nil {
			t.Errorf("%s stands for %s, and is not here", ours, theirs)
		}
		if got := Instead(theirs); got != ours {
			t.Errorf("Instead(%q) = %q, want %q", theirs, got, ours)
		}
	}
}

// TestAlias: values have the names of Wireshark that a search by our own names does not find.
func TestAlias(t *testing.T) {
	for _, test := range []struct {
		field, name string
		want        uint64
	}{
		{"_ws.expert.severity", "Warning", severityWarn},
		{"_ws.expert.severity", "note", severityNote},
		{"_ws.expert.group", "Sequence", groupSequence},
		{"tcp.checksum.status", "Unverified", 2},
		{"ip.checksum.status", "unverified", 2},
		{"iwarp_rdma.opcode", "Read Request", 1},
	} {
		f := Find(test.field)
		if f == nil {
			t.Fatalf("there is no field %s", test.field)
		}
		if got, ok := Alias(f, test.name); !ok || got != test.want {
			t.Errorf("%s: %q is %#x, %v; want %#x", test.field, test.name, got, ok, test.want)
		}
	}
}
