// Command release builds all files of a release, twice: from two copies of the sources, in two
// directories, the second with an empty cache. Release keeps the files if the hashes of both
// builds are equal.
//
//	go -C release run . tag v0.1.0               # the release commit of HEAD, and its tags
//	go -C release run . proxy v0.1.0 -out DIR    # their modules, for GOPROXY=file://DIR
//	go -C release run . -out DIR                 # the files of a release
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	repository := flags.String("repository", "..", "directory of the repository")
	out := flags.String("out", "_dist", "directory for the files, which must not exist yet")
	platforms := flags.String("platforms", "", "build for these alone, such as "+
		"linux/amd64,linux/armv7; default: "+strings.Join(names(targets), ","))
	once := flags.Bool("once", false, "build once, and compare nothing")
	warm := flags.Bool("warm", false, "let the second build use the cache of the first")
	wheels := flags.Bool("wheels", true, "make wheels of the Python package, which needs hatchling")
	libraries := flags.Bool("libraries", true, "make libzofl for Linux, which needs gcc, "+
		"gcc-aarch64-linux-gnu and gcc-arm-linux-gnueabihf")
	key := flags.String("sign", "", "file of an SSH key with which ssh-keygen signs SHA256SUMS; "+
		"default: no signature")
	verb, name := "", ""
	if len(args) > 1 && (args[0] == "tag" || args[0] == "proxy") {
		verb, name, args = args[0], args[1], args[2:]
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("argument %q: give tag VERSION, proxy VERSION or flags alone, see -help",
			flags.Arg(0))
	}
	switch verb {
	case "tag":
		return tag(ctx, *repository, name)
	case "proxy":
		return proxy(ctx, *repository, name, *out)
	}
	chosen, err := choose(*platforms)
	if err != nil {
		return err
	}
	if *out, err = filepath.Abs(*out); err != nil {
		return err
	}
	if _, err := os.Lstat(*out); err == nil {
		return fmt.Errorf("-out %s exists: remove it, or name another", *out)
	}
	src, err := inspect(ctx, *repository)
	if err != nil {
		return err
	}
	src.noWheels, src.noLibraries = !*wheels, !*libraries
	if err := src.release(ctx, *out, chosen, passes(*once, *warm)); err != nil || *key == "" {
		return err
	}
	line, err := sign(ctx, *out, *key)
	if err != nil {
		return err
	}
	_, err = fmt.Printf("SHA256SUMS is signed. Who checks it needs this line, from where the files "+
		"are not:\n%s", line)
	return err
}

// passes returns the builds to make.
func passes(once, warm bool) []pass {
	all := []pass{{name: "first"}, {name: "second", cold: !warm}}
	if once {
		return all[:1]
	}
	return all
}
