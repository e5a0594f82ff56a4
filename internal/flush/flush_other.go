//go:build !amd64

package flush

func while(func()) bool { return false }
