package ended

// Small returns a list that packs all records but the first few.
func Small() *List { return &List{mostPlain: 1, runSize: 16} }

// Packed returns a list that packs all records, as many at a time as ever.
func Packed() *List { return &List{mostPlain: 1} }
