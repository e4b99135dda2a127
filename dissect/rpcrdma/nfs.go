package rpcrdma

// The programs of NFS and those beside it.
const (
	ProgramNFS      = 100003
	ProgramCallback = 0x40000000
)

func programName(v uint64) string {
	switch v {
	case 100000:
		return "portmap"
	case ProgramNFS:
		return "NFS"
	case 100005:
		return "mount"
	case 100021:
		return "nlockmgr"
	case 100227:
		return "NFS ACL"
	case ProgramCallback:
		return "NFS callback"
	}
	return "unknown"
}

// ProgramName is the name of a program, or "unknown".
func ProgramName(program uint32) string { return programName(uint64(program)) }

// Names are those that the RFCs have; an empty one is not assigned.
var procedures3 = [...]string{
	"NULL", "GETATTR", "SETATTR", "LOOKUP", "ACCESS", "READLINK", "READ", "WRITE", "CREATE", "MKDIR", "SYMLINK", "MKNOD",
	"REMOVE", "RMDIR", "RENAME", "LINK", "READDIR", "READDIRPLUS", "FSSTAT", "FSINFO", "PATHCONF", "COMMIT",
}

func procedure3(v uint64) string { return nameOf(v, procedures3[:]...) }

func procedure4(v uint64) string { return nameOf(v, "NULL", "COMPOUND") }

func callbackProcedure(v uint64) string { return nameOf(v, "CB_NULL", "CB_COMPOUND") }

// Operations of NFS version 4: RFC 7530, RFC 8881, RFC 7862, RFC 8276.
var operations4 = [...]string{
	"", "", "", "ACCESS", "CLOSE", "COMMIT", "CREATE", "DELEGPURGE", "DELEGRETURN", "GETATTR", "GETFH", "LINK", "LOCK",
	"LOCKT", "LOCKU", "LOOKUP", "LOOKUPP", "NVERIFY", "OPEN", "OPENATTR", "OPEN_CONFIRM", "OPEN_DOWNGRADE", "PUTFH",
	"PUTPUBFH", "PUTROOTFH", "READ", "READDIR", "READLINK", "REMOVE", "RENAME", "RENEW", "RESTOREFH", "SAVEFH", "SECINFO",
	"SETATTR", "SETCLIENTID", "SETCLIENTID_CONFIRM", "VERIFY", "WRITE", "RELEASE_LOCKOWNER", "BACKCHANNEL_CTL",
	"BIND_CONN_TO_SESSION", "EXCHANGE_ID", "CREATE_SESSION", "DESTROY_SESSION", "FREE_STATEID", "GET_DIR_DELEGATION",
	"GETDEVICEINFO", "GETDEVICELIST", "LAYOUTCOMMIT", "LAYOUTGET", "LAYOUTRETURN", "SECINFO_NO_NAME", "SEQUENCE",
	"SET_SSV", "TEST_STATEID", "WANT_DELEGATION", "DESTROY_CLIENTID", "RECLAIM_COMPLETE", "ALLOCATE", "COPY",
	"COPY_NOTIFY", "DEALLOCATE", "IO_ADVISE", "LAYOUTERROR", "LAYOUTSTATS", "OFFLOAD_CANCEL", "OFFLOAD_STATUS",
	"READ_PLUS", "SEEK", "WRITE_SAME", "CLONE", "GETXATTR", "SETXATTR", "LISTXATTRS", "REMOVEXATTR",
}

const opIllegal = 10044

func operation4(v uint64) string {
	if v == opIllegal {
		return "ILLEGAL"
	}
	return assigned(v, operations4[:])
}

// Operations of the callback: RFC 7530 section 18, RFC 8881 section 20, RFC 7862.
var callbackOperations = [...]string{
	"", "", "", "CB_GETATTR", "CB_RECALL", "CB_LAYOUTRECALL", "CB_NOTIFY", "CB_PUSH_DELEG", "CB_RECALL_ANY",
	"CB_RECALLABLE_OBJ_AVAIL", "CB_RECALL_SLOT", "CB_SEQUENCE", "CB_WANTS_CANCELLED", "CB_NOTIFY_LOCK", "CB_NOTIFY_DEVICEID",
	"CB_OFFLOAD",
}

func callbackOperation(v uint64) string {
	if v == opIllegal {
		return "CB_ILLEGAL"
	}
	return assigned(v, callbackOperations[:])
}

func assigned(v uint64, names []string) string {
	if v < uint64(len(names)) && names[v] != "" {
		return names[v]
	}
	return "unknown"
}

// low are the statuses that are those of Unix.
func lowStatus(v uint64) string {
	switch v {
	case 1:
		return "PERM"
	case 2:
		return "NOENT"
	case 5:
		return "IO"
	case 6:
		return "NXIO"
	case 13:
		return "ACCESS"
	case 17:
		return "EXIST"
	case 18:
		return "XDEV"
	case 19:
		return "NODEV"
	case 20:
		return "NOTDIR"
	case 21:
		return "ISDIR"
	case 22:
		return "INVAL"
	case 27:
		return "FBIG"
	case 28:
		return "NOSPC"
	case 30:
		return "ROFS"
	case 31:
		return "MLINK"
	case 63:
		return "NAMETOOLONG"
	case 66:
		return "NOTEMPTY"
	case 69:
		return "DQUOT"
	case 70:
		return "STALE"
	case 71:
		return "REMOTE"
	}
	return "unknown"
}

// highStatuses are those from 10001 on: RFC 1813 section 2.6, RFC 8881 section 15.1, RFC
// 7862, RFC 8276. Those of version 3 end with JUKEBOX, which is DELAY in version 4.
var highStatuses = [...]string{
	"BADHANDLE", "", "BAD_COOKIE", "NOTSUPP", "TOOSMALL", "SERVERFAULT", "BADTYPE", "DELAY", "SAME", "DENIED", "EXPIRED",
	"LOCKED", "GRACE", "FHEXPIRED", "SHARE_DENIED", "WRONGSEC", "CLID_INUSE", "RESOURCE", "MOVED", "NOFILEHANDLE",
	"MINOR_VERS_MISMATCH", "STALE_CLIENTID", "STALE_STATEID", "OLD_STATEID", "BAD_STATEID", "BAD_SEQID", "NOT_SAME",
	"LOCK_RANGE", "SYMLINK", "READDIR_NOSPC", "LEASE_MOVED", "ATTRNOTSUPP", "NO_GRACE", "RECLAIM_BAD", "RECLAIM_CONFLICT",
	"BADXDR", "LOCKS_HELD", "OPENMODE", "BADOWNER", "BADCHAR", "BADNAME", "BAD_RANGE", "LOCK_NOTSUPP", "OP_ILLEGAL",
	"DEADLOCK", "FILE_OPEN", "ADMIN_REVOKED", "CB_PATH_DOWN", "BADIOMODE", "BADLAYOUT", "BAD_SESSION_DIGEST", "BADSESSION",
	"BADSLOT", "COMPLETE_ALREADY", "CONN_NOT_BOUND_TO_SESSION", "DELEG_ALREADY_WANTED", "DIRDELEG_UNAVAIL",
	"LAYOUTTRYLATER", "LAYOUTUNAVAILABLE", "NOMATCHING_LAYOUT", "RECALLCONFLICT", "UNKNOWN_LAYOUTTYPE", "SEQ_MISORDERED",
	"SEQUENCE_POS", "REQ_TOO_BIG", "REP_TOO_BIG", "REP_TOO_BIG_TO_CACHE", "RETRY_UNCACHED_REP", "UNSAFE_COMPOUND",
	"TOO_MANY_OPS", "OP_NOT_IN_SESSION", "HASH_ALG_UNSUPP", "CONN_BINDING_NOT_ENFORCED", "CLIENTID_BUSY", "PNFS_IO_HOLE",
	"SEQ_FALSE_RETRY", "BAD_HIGH_SLOT", "DEADSESSION", "ENCR_ALG_UNSUPP", "PNFS_NO_LAYOUT", "NOT_ONLY_OP", "WRONG_CRED",
	"WRONG_TYPE", "DIRDELEG_UNAVAIL", "REJECT_DELEG", "RETURNCONFLICT", "DELEG_REVOKED", "PARTNER_NOTSUPP",
	"PARTNER_NO_AUTH", "UNION_NOTSUPP", "OFFLOAD_DENIED", "WRONG_LFS", "BADLABEL", "OFFLOAD_NO_REQS", "NOXATTR",
	"XATTR2BIG",
}

const (
	firstHighStatus = 10001
	statusJukebox   = 10008
)

func status3(v uint64) string {
	switch {
	case v == 0:
		return "OK"
	case v == 10002:
		return "NOT_SYNC"
	case v == statusJukebox:
		return "JUKEBOX"
	case v >= firstHighStatus && v < statusJukebox:
		return assigned(v-firstHighStatus, highStatuses[:])
	}
	return lowStatus(v)
}

func status4(v uint64) string {
	switch {
	case v == 0:
		return "OK"
	case v >= firstHighStatus:
		return assigned(v-firstHighStatus, highStatuses[:])
	}
	return lowStatus(v)
}

// ordinaryStatuses are errors that belong to normal use, with the same meaning in all versions (RFC 1813 section 2.6, RFC 7530
// section 13.1, RFC 8881 section 15.1, RFC 8276 section 8.5): names that are not there or there already, rights, kinds of files, what a
// server does not have, answers to questions, locks that somebody else has, and what is to be tried again later, or in another way.
var ordinaryStatuses = map[uint32]bool{
	1: true, 2: true, 13: true, 17: true, 18: true, 20: true, 21: true, 22: true, 31: true, 63: true, 66: true,
	10002: true, // NOT_SYNC
	10003: true, // BAD_COOKIE
	10004: true, // NOTSUPP
	10005: true, // TOOSMALL
	10007: true, // BADTYPE
	10008: true, // JUKEBOX, DELAY
	10009: true, // SAME
	10010: true, // DENIED
	10012: true, // LOCKED
	10013: true, // GRACE
	10015: true, // SHARE_DENIED
	10016: true, // WRONGSEC
	10017: true, // CLID_INUSE
	10019: true, // MOVED
	10021: true, // MINOR_VERS_MISMATCH
	10024: true, // OLD_STATEID
	10027: true, // NOT_SAME
	10028: true, // LOCK_RANGE
	10029: true, // SYMLINK
	10031: true, // LEASE_MOVED
	10032: true, // ATTRNOTSUPP
	10033: true, // NO_GRACE
	10038: true, // OPENMODE
	10040: true, // BADCHAR
	10041: true, // BADNAME
	10043: true, // LOCK_NOTSUPP
	10045: true, // DEADLOCK
	10046: true, // FILE_OPEN
	10054: true, // COMPLETE_ALREADY
	10056: true, // DELEG_ALREADY_WANTED
	10057: true, // DIRDELEG_UNAVAIL
	10058: true, // LAYOUTTRYLATER
	10059: true, // LAYOUTUNAVAILABLE
	10060: true, // NOMATCHING_LAYOUT
	10061: true, // RECALLCONFLICT
	10062: true, // UNKNOWN_LAYOUTTYPE
	10074: true, // CLIENTID_BUSY
	10084: true, // DIRDELEG_UNAVAIL
	10085: true, // REJECT_DELEG
	10086: true, // RETURNCONFLICT
	10088: true, // PARTNER_NOTSUPP
	10090: true, // UNION_NOTSUPP
	10095: true, // NOXATTR
	10096: true, // XATTR2BIG
}

// OrdinaryStatus reports whether a status of NFS, of a version or of the callback, tells of an error that belongs to normal
// use.
func OrdinaryStatus(status uint32) bool { return status == 0 || ordinaryStatuses[status] }
