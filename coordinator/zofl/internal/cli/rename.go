package cli

import "github.com/spf13/pflag"

// Renamed lets a flag be given by the name that it had, too. Help and errors have the new one.
func Renamed(flags *pflag.FlagSet, was, is string) {
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == was {
			name = is
		}
		return pflag.NormalizedName(name)
	})
}
