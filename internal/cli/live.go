package cli

import "github.com/spf13/cobra"

func newLive(*IOStreams) *cobra.Command { return &cobra.Command{Use: "live"} }
