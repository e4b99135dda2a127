package sctp

// The requests of a RE-CONFIG chunk and the answer to one (RFC 6525 section 4).
const (
	ParamResetOut   uint16 = 13
	ParamResetIn    uint16 = 14
	ParamResetTSN   uint16 = 15
	ParamResetReply uint16 = 16
	ParamAddOut     uint16 = 17
	ParamAddIn      uint16 = 18
)

// ReconfigName is the name of a parameter of a RE-CONFIG chunk.
func ReconfigName(t uint16) string {
	switch t {
	case ParamResetOut:
		return "reset-outgoing"
	case ParamResetIn:
		return "reset-incoming"
	case ParamResetTSN:
		return "reset-tsn"
	case ParamResetReply:
		return "response"
	case ParamAddOut:
		return "add-outgoing"
	case ParamAddIn:
		return "add-incoming"
	}
	return "parameter"
}
