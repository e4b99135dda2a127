package scenario

import (
	"slices"

	"github.com/iwdissect/iwdissect/dissect/iser"
	"github.com/iwdissect/iwdissect/dissect/nvme"
)

// noName tells of a name that does not exist, at the key that has it.
func (c *compiler) noName(n *node, key, what, name string, known []string) {
	if at := n.Get(key); at != nil {
		c.Unknown(at.Pos, what, name, known)
		return
	}
	c.Fail(n.Pos, "%s is missing: the name of the %s", key, what)
}

// nvmeNames, iscsiNames and scsiNames are all names that are known.
func nvmeNames() (all []string) {
	for v := range 256 {
		op := uint8(v)
		if t := nvme.FabricsType(op); t.Known() {
			all = append(all, t.String())
		}
		for _, q := range [...]nvme.Queue{nvme.AdminQueue, nvme.IOQueue} {
			if name, ok := nvme.OpcodeName(q, op); ok && op != nvme.OpFabrics && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func iscsiNames() (all []string) {
	for v := range 64 {
		if o := iser.PDU(v); o.Known() {
			all = append(all, o.String())
		}
	}
	return all
}

func scsiNames() (all []string) {
	for v := range 256 {
		if name, ok := iser.SCSIName(uint8(v)); ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}
