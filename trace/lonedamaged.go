package trace

// LoneDamaged reports whether all that was captured of a connection is one packet that has a wrong TCP checksum and opens nothing, and
// the direction of it: its ports or addresses may be what was damaged, so that it belongs to another connection.
func (c *Connection) LoneDamaged() (dir Dir, ok bool) {
	if c.Transport != TCP || c.SYN || c.Flow[0].Frames+c.Flow[1].Frames != 1 {
		return 0, false
	}
	if c.Flow[I2R].Frames == 0 {
		dir = R2I
	}
	return dir, c.Flow[dir].Rare().SumsWrong == 1
}
