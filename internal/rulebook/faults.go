package rulebook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/iwdissect/iwdissect/conformance"
	"github.com/iwdissect/iwdissect/dissect/rdmap"
)

// Fault is an error that a Terminate reports.
type Fault struct {
	// Code is layer, error type and code, such as 1/1/00; with any code it ends in *.
	Code string `json:"code"`
	// Name is what the RFC calls it, Word the same in one word, such as
	// ddp/tagged/invalid-stag.
	Name string `json:"name"`
	Word string `json:"word"`
	// Says is what it means, and what to look for; Ref is where it is defined.
	Says string `json:"says"`
	Ref  string `json:"ref"`
	// Rules are those that speak of the code.
	Rules []string `json:"rules,omitempty"`
}

// Faults are all that the registries have, by number, without the rules that speak of
// them.
func Faults() (all []Fault) {
	seen := map[string]bool{}
	for layer := range rdmap.LayerLLP + 1 {
		for etype := range uint8(4) {
			for code := range 256 {
				if f, ok := fault(layer, etype, uint8(code)); ok && !seen[f.Code] {
					seen[f.Code] = true
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// fault returns the error with these numbers.
func fault(layer, etype, code uint8) (Fault, bool) {
	if !rdmap.Assigned(layer, etype, code) {
		return Fault{}, false
	}
	f := Fault{
		Code: fmt.Sprintf("%x/%x/%02x", layer, etype, code),
		Name: rdmap.ErrorName(layer, etype, code),
		Ref:  [...]string{"RFC 5040 section 4.8, RFC 6580 section 3.1", "RFC 5041 section 7.2, RFC 6580 section 3.2", "RFC 5044 section 8, RFC 6580 section 3.3"}[layer],
	}
	if layer == rdmap.LayerLLP && code >= 5 {
		f.Ref = "RFC 6581 section 8"
	}
	f.Word = wordOf(f.Name)
	if rdmap.Assigned(layer, etype, ^code) && rdmap.ErrorName(layer, etype, ^code) == f.Name {
		f.Code = fmt.Sprintf("%x/%x/*", layer, etype) // every code means the same
	}
	f.Says = faultSays[f.Code]
	return f, true
}

// ruled adds the rules that speak of the code.
func (f Fault) ruled() Fault {
	if f.Code == "" {
		return f
	}
	for _, e := range conformance.Catalogue().Entries {
		if text := e.Statement + " " + e.Check + " " + e.Example; strings.Contains(text, f.Code) {
			f.Rules = append(f.Rules, e.ID)
		}
	}
	return f
}

// wordOf makes one word of a name.
func wordOf(name string) string {
	name = strings.NewReplacer(": ", "/", ", ", "-", " ", "-").Replace(strings.ToLower(name))
	return strings.ReplaceAll(name, ",", "")
}

// FindFault finds an error by its numbers, as 1/1/00 or 1100, or by its word or name.
func FindFault(text string) (Fault, bool) {
	if n, ok := numbersOf(text); ok {
		f, ok := fault(n[0], n[1], n[2])
		return f.ruled(), ok
	}
	word, all := wordOf(text), Faults()
	i := slices.IndexFunc(all, func(f Fault) bool { return f.Word == word })
	if i < 0 {
		return Fault{}, false
	}
	return all[i].ruled(), true
}

// Unassigned says of the numbers of an error that no RFC assigns a meaning to them; "" if text is something else.
func Unassigned(text string) string {
	n, ok := numbersOf(text)
	if !ok || rdmap.Assigned(n[0], n[1], n[2]) {
		return ""
	}
	return fmt.Sprintf("no RFC assigns the error %x/%x/%02x of a Terminate", n[0], n[1], n[2])
}

// numbersOf reads layer, error type and code of an error, as 1/1/00 or 1100.
func numbersOf(text string) (n [3]uint8, ok bool) {
	parts := strings.Split(text, "/")
	if len(parts) == 1 && len(text) == 4 {
		parts = []string{text[:1], text[1:2], text[2:]}
	}
	if len(parts) != len(n) {
		return n, false
	}
	for i, p := range parts {
		v, err := strconv.ParseUint(strings.TrimPrefix(p, "0x"), 16, 8)
		if err != nil {
			return n, false
		}
		n[i] = uint8(v)
	}
	return n, true
}

// faultSays is what the errors mean in practice.
var faultSays = map[string]string{
	"0/0/*":  "The RDMAP of the sender failed for reasons of its own, whatever the peer sent. Check the log of that host.",
	"0/1/00": "A Read Request, an Atomic Request or a Send with Invalidate names an STag that the sender of the Terminate does not have. Compare it with the STag that was advertised; it may have been invalidated before.",
	"0/1/01": "A Read or Atomic Request reaches beyond the ends of the buffer. Compare TO and size with the buffer that was advertised.",
	"0/1/02": "The buffer may not be used in this way: it is not registered for remote reading, or for atomics. Compare the permissions of the registration with the operation.",
	"0/1/03": "The STag is valid, but belongs to another stream or protection domain.",
	"0/1/04": "TO and size of a Request together run over the end of the 64-bit space.",
	"0/1/09": "A Send with Invalidate names an STag that cannot be withdrawn: it is unknown, belongs to somebody else, or has a memory window bound to it.",
	"0/1/ff": "A remote protection error without a more specific reason.",
	"0/2/05": "The RDMAP version of a message is not one that the sender of the Terminate takes. An RNIC of the RDMA Consortium and an IETF one may be talking.",
	"0/2/06": "The opcode is unknown, or not allowed there: the peer may lack an extension of RFC 7306, or a message came on the wrong queue.",
	"0/2/07": "The stream failed in a way that concerns no other stream. Check the log of the sender.",
	"0/2/08": "The RNIC failed as a whole; other connections on it are likely to end too.",
	"0/2/09": "A Send with Invalidate names an STag that cannot be withdrawn. RFC 5040 lists it under this error type, RFC 6580 under remote protection.",
	"0/2/ff": "A remote operation error without a more specific reason.",
	"1/0/00": "The DDP of the sender failed for reasons of its own. Check the log of that host.",
	"1/1/00": "An RDMA Write or Read Response goes to an STag that the receiver refuses. Compare it with the STag that was advertised: it may be of an earlier registration, invalidated, in the wrong order of octets, or without permission for remote writes, for which DDP has no code.",
	"1/1/01": "A tagged segment reaches beyond the ends of its buffer. Compare TO and length with what was advertised.",
	"1/1/02": "The STag is valid, but belongs to another stream or protection domain.",
	"1/1/03": "TO and length of a tagged segment together run over the end of the 64-bit space.",
	"1/1/04": "The DDP version of a tagged segment is not one that the receiver takes. An RNIC of the RDMA Consortium and an IETF one may be talking.",
	"1/2/01": "An untagged segment names a queue that does not exist; there are 0 to 2, with RFC 7306 also 3.",
	"1/2/02": "There is no receive buffer for a message. The receiver has to post more of them, or the sender to wait: flow control belongs to the application.",
	"1/2/03": "The MSN of a segment is not one of those that can come next. Messages were lost, or counted wrongly.",
	"1/2/04": "The MO of an untagged segment does not fit its message.",
	"1/2/05": "A message is longer than the receive buffer that it came to. Compare the sizes that both applications use.",
	"1/2/06": "The DDP version of an untagged segment is not one that the receiver takes.",
	"1/3/*":  "Reserved for errors of the layer below DDP, whose own codes are used instead.",
	"2/0/01": "TCP was closed or reset, or gave up.",
	"2/0/02": "The CRC of an FPDU is wrong: octets changed on the way and TCP's own checksum did not notice, or sender and receiver disagree about markers or pad.",
	"2/0/03": "A marker does not point to the beginning of an FPDU as the length fields give it.",
	"2/0/04": "A startup frame is not valid.",
	"2/0/05": "MPA failed for a local reason that has no code of its own. Check the log of the sender.",
	"2/0/06": "The depths of the startup do not fit: the Reply asks for more Reads than the initiator can serve, or grants fewer than it needs. Set IRD and ORD of both applications so that they fit.",
	"2/0/07": "The initiator cannot send any kind of RTR that the responder takes.",
}
