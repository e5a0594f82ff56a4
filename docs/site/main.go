// Site builds a static site from the project's pages. A browser shows the site from a disk or from
// any web server. The site loads nothing from elsewhere.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	out := flag.String("out", "_site", "new or empty `directory` for the site; _site is replaced")
	root := flag.String("root", "../..", "`directory` of the repository")
	flag.Parse()
	if err := run(*root, *out, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

func run(root, out string, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("unexpected %q: the flags are -out DIR and -root DIR", args)
	}
	site, err := build(os.DirFS(root), sections)
	if err != nil {
		return err
	}
	if faults := site.faults(); len(faults) > 0 {
		return fmt.Errorf("%d faults, the first is %s", len(faults), faults[0])
	}
	if err := site.write(out); err != nil {
		return err
	}
	fmt.Printf("%d files: open %s/index.html\n", len(site), out)
	return nil
}
