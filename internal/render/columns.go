package render

import (
	"io"

	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// gutter is what separates the columns of a table.
const gutter = "  "

// columns writes a table without rules between or around its rows, and nothing behind
// the last cell of a row. The renderer that comes with the package formats each cell
// for itself, a third of the time that a table takes.
type columns struct {
	*renderer.Blueprint
	w    io.Writer
	line []byte
	err  error
	// under is what stands below the header and each row, begun how many of them were
	// begun.
	under []string
	begun int
}

func newColumns(under []string) *columns {
	return &columns{under: under, Blueprint: renderer.NewBlueprint(tw.Rendition{
		Borders: tw.BorderNone,
		Settings: tw.Settings{
			Separators: tw.Separators{BetweenColumns: tw.Off, BetweenRows: tw.Off, ShowHeader: tw.Off},
			Lines:      tw.Lines{ShowHeaderLine: tw.Off, ShowTop: tw.Off, ShowBottom: tw.Off},
		},
	})}
}

func (c *columns) Start(w io.Writer) error {
	c.w = w
	return c.Blueprint.Start(w)
}

func (c *columns) Header(_ [][]string, ctx tw.Formatting) { c.part(&ctx) }
func (c *columns) Row(_ []string, ctx tw.Formatting)      { c.part(&ctx) }

// part writes one line of a row, and what stands below the row before.
func (c *columns) part(ctx *tw.Formatting) {
	if !ctx.IsSubRow {
		c.below()
		c.begun++
	}
	c.row(&ctx.Row)
}

// below writes what stands below the row that was begun last.
func (c *columns) below() {
	if c.begun == 0 || c.begun > len(c.under) {
		return
	}
	if _, err := io.WriteString(c.w, c.under[c.begun-1]); err != nil {
		c.err = err
	}
}

// end writes what stands below the last row, and returns the last error there was.
func (c *columns) end() error {
	c.below()
	return c.err
}

// row writes a row; the width of a column includes the gutter.
func (c *columns) row(r *tw.RowContext) {
	c.line = c.line[:0]
	blanks := 0 // before the next cell
	for i := range len(r.Widths) {
		cell := r.Current[i]
		fill := r.Widths.Get(i) - columnsOf(cell.Data) - len(gutter)
		if cell.Align == tw.AlignRight {
			blanks, fill = blanks+fill, 0
		}
		if cell.Data != "" {
			for range blanks {
				c.line = append(c.line, ' ')
			}
			c.line = append(c.line, cell.Data...)
			blanks = 0
		}
		blanks += fill + len(gutter)
	}
	c.line = append(c.line, '\n')
	if _, err := c.w.Write(c.line); err != nil {
		c.err = err
	}
}
