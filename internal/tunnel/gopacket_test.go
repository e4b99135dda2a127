package tunnel

import (
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/iwdissect/iwdissect/internal/packet"
)

// TestUnwrap_Gopacket compares the fields of the headers with gopacket's layers.
// Away from it stay ERSPAN types I and III, which it does not have, and the A bit
// of VXLAN and long options of Geneve, which it misreads.
func TestUnwrap_Gopacket(t *testing.T) {
	compared := map[string]int{}
	for _, tc := range tunnels {
		var u Unwrapper
		var p packet.Packet
		unwrap(&u, packet.NewDecoder(), tc.frame, len(tc.frame), 1, &p)
		ours := map[string][]uint32{}
		for _, h := range u.Headers() {
			for _, v := range h.Values() {
				ours[v.Name] = append(ours[v.Name], v.Number)
			}
		}
		n := map[string]int{}
		same := func(name string, theirs uint32) {
			if i := n[name]; i >= len(ours[name]) || ours[name][i] != theirs {
				t.Errorf("%s: %s is %v, gopacket has %d", tc.name, name, ours[name], theirs)
			}
			n[name]++
			compared[name]++
		}
		for _, l := range gopacket.NewPacket(tc.frame, layers.LayerTypeEthernet, gopacket.Default).Layers() {
			switch l := l.(type) {
			case *layers.GRE:
				same("gre.proto", uint32(l.Protocol))
				if l.KeyPresent {
					same("gre.key", l.Key)
				}
				if l.SeqPresent {
					same("gre.sequence_number", l.Seq)
				}
				if l.ChecksumPresent {
					same("gre.checksum", uint32(l.Checksum))
				}
			case *layers.ERSPANII:
				if l.Version == 0 {
					continue // type I, which it takes for type II
				}
				same("erspan.version", uint32(l.Version))
				same("erspan.vlan", uint32(l.VLANIdentifier))
				same("erspan.spanid", uint32(l.SessionID))
			case *layers.VXLAN:
				same("vxlan.vni", l.VNI)
				if l.GBPExtension {
					same("vxlan.gbp", uint32(l.GBPGroupPolicyID))
				}
			case *layers.Geneve:
				same("geneve.vni", l.VNI)
			case *layers.MPLS:
				same("mpls.label", l.Label)
			case *layers.PPPoE:
				same("pppoe.session_id", uint32(l.SessionId))
			}
		}
	}
	for _, f := range []*Field{
		greProtocol, greChecksum, greKey, greSequence, erspanVersion, erspanVLAN, erspanSpanID, vxlanVNI, vxlanGBP, geneveVNI, mplsLabel, pppoeSession,
	} {
		if compared[f.Name] == 0 {
			t.Errorf("%s was never compared", f.Name)
		}
	}
}
