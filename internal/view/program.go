package view

import (
	"context"

	tea "charm.land/bubbletea/v2"
)

// Show shows a capture on the terminal until the user quits. The filter, if there is one, is
// applied from the beginning.
func Show(ctx context.Context, c *Capture, filter string, isPlain bool, opts ...tea.ProgramOption) error {
	m := NewModel(ctx, c, isPlain)
	defer m.stop()
	m.Preset(filter)
	_, err := tea.NewProgram(m, append([]tea.ProgramOption{tea.WithContext(ctx)}, opts...)...).Run()
	return err
}
