package plan_test

import "flag"

var update = flag.Bool("update", false, "write the files of testdata instead of comparing them")
