package rpcrdma

import (
	"slices"
	"strings"
	"testing"
)

// TestOrdinaryStatus compares the numbers of the errors that belong to normal use with their names.
func TestOrdinaryStatus(t *testing.T) {
	var names []string
	for s := range ordinaryStatuses {
		names = append(names, status4(uint64(s)))
	}
	slices.Sort(names)
	const want = "ACCESS ATTRNOTSUPP BADCHAR BADNAME BADTYPE BAD_COOKIE CLIENTID_BUSY CLID_INUSE COMPLETE_ALREADY DEADLOCK DELAY " +
		"DELEG_ALREADY_WANTED DENIED DIRDELEG_UNAVAIL DIRDELEG_UNAVAIL EXIST FILE_OPEN GRACE INVAL ISDIR LAYOUTTRYLATER " +
		"LAYOUTUNAVAILABLE LEASE_MOVED LOCKED LOCK_NOTSUPP LOCK_RANGE MINOR_VERS_MISMATCH MLINK MOVED NAMETOOLONG NOENT " +
		"NOMATCHING_LAYOUT NOTDIR NOTEMPTY NOTSUPP NOT_SAME NOXATTR NO_GRACE OLD_STATEID OPENMODE PARTNER_NOTSUPP PERM RECALLCONFLICT " +
		"REJECT_DELEG RETURNCONFLICT SAME SHARE_DENIED SYMLINK TOOSMALL UNION_NOTSUPP UNKNOWN_LAYOUTTYPE WRONGSEC XATTR2BIG XDEV unknown"
	wanted := strings.Fields(want)
	slices.Sort(wanted)
	if !slices.Equal(names, wanted) {
		t.Errorf("%v", names)
	}
}
