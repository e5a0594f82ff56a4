package mathx

// The loops take four elements at a time: one index check and one increment serve four, and a
// processor can load and store pairs of registers.

func axpyGeneric(dst []float32, a float32, x []float32) {
	x = x[:len(dst)]
	i := 0
	for ; i < len(dst)-3; i += 4 {
		d, s := dst[i:i+4:len(dst)], x[i:i+4:len(x)]
		d0 := d[0] + float32(a*s[0])
		d1 := d[1] + float32(a*s[1])
		d2 := d[2] + float32(a*s[2])
		d3 := d[3] + float32(a*s[3])
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
	}
	for ; i < len(dst); i++ {
		dst[i] += float32(a * x[i])
	}
}

func descendGeneric(x []float32, eta float32, v []float32) {
	v = v[:len(x)]
	i := 0
	for ; i < len(x)-3; i += 4 {
		d, s := x[i:i+4:len(x)], v[i:i+4:len(v)]
		d0 := d[0] - float32(eta*s[0])
		d1 := d[1] - float32(eta*s[1])
		d2 := d[2] - float32(eta*s[2])
		d3 := d[3] - float32(eta*s[3])
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
	}
	for ; i < len(x); i++ {
		x[i] -= float32(eta * v[i])
	}
}

func momentumGeneric(m []float32, beta, gain float32, v []float32) {
	v = v[:len(m)]
	i := 0
	for ; i < len(m)-3; i += 4 {
		d, s := m[i:i+4:len(m)], v[i:i+4:len(v)]
		d0 := float32(beta*d[0]) + float32(gain*s[0])
		d1 := float32(beta*d[1]) + float32(gain*s[1])
		d2 := float32(beta*d[2]) + float32(gain*s[2])
		d3 := float32(beta*d[3]) + float32(gain*s[3])
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
	}
	for ; i < len(m); i++ {
		m[i] = float32(beta*m[i]) + float32(gain*v[i])
	}
}

func momentumStepGeneric(x, m []float32, beta, gain, eta float32, v []float32) {
	m, v = m[:len(x)], v[:len(x)]
	i := 0
	for ; i < len(x)-3; i += 4 {
		d, k, s := x[i:i+4:len(x)], m[i:i+4:len(m)], v[i:i+4:len(v)]
		k0 := float32(beta*k[0]) + float32(gain*s[0])
		k1 := float32(beta*k[1]) + float32(gain*s[1])
		k2 := float32(beta*k[2]) + float32(gain*s[2])
		k3 := float32(beta*k[3]) + float32(gain*s[3])
		k[0], k[1], k[2], k[3] = k0, k1, k2, k3
		d0 := d[0] - float32(eta*k0)
		d1 := d[1] - float32(eta*k1)
		d2 := d[2] - float32(eta*k2)
		d3 := d[3] - float32(eta*k3)
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
	}
	for ; i < len(x); i++ {
		m[i] = float32(beta*m[i]) + float32(gain*v[i])
		x[i] -= float32(eta * m[i])
	}
}

func scaleGeneric(dst []float32, a float32, x []float32) {
	x = x[:len(dst)]
	i := 0
	for ; i < len(dst)-3; i += 4 {
		d, s := dst[i:i+4:len(dst)], x[i:i+4:len(x)]
		d0, d1, d2, d3 := a*s[0], a*s[1], a*s[2], a*s[3]
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
	}
	for ; i < len(dst); i++ {
		dst[i] = a * x[i]
	}
}

func subtractGeneric(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	i := 0
	for ; i < len(dst)-3; i += 4 {
		d, s, t := dst[i:i+4:len(dst)], a[i:i+4:len(a)], b[i:i+4:len(b)]
		d0, d1, d2, d3 := s[0]-t[0], s[1]-t[1], s[2]-t[2], s[3]-t[3]
		d[0], d[1], d[2], d[3] = d0, d1, d2, d3
	}
	for ; i < len(dst); i++ {
		dst[i] = a[i] - b[i]
	}
}
