package graph

import "slices"

// position gives coordinates: layers below one another, and within each the
// places nearest to the neighbours' that keep order and distance.
func (p *placed) position() {
	y := margin
	for _, layer := range p.layers {
		tallest := 0.0
		for _, v := range layer {
			tallest = max(tallest, p.vs[v].h)
		}
		for _, v := range layer {
			p.vs[v].y = y + tallest/2
			if !p.vs[v].dummy { // at the edge that calls come from
				p.vs[v].y = y + p.vs[v].h/2
			}
		}
		y += tallest + layerGap + 2*float64(min(len(layer), 20))
	}
	p.height = y - layerGap + margin
	for _, layer := range p.layers {
		x := 0.0
		for k, v := range layer {
			if k > 0 {
				x += p.apart(layer[k-1], v)
			}
			p.vs[v].x = x
		}
	}
	rounds := 12
	if len(p.vs) > 4000 {
		rounds = 4
	}
	for r := range rounds {
		if r%2 == 0 {
			for l := 1; l < len(p.layers); l++ {
				p.pull(p.layers[l], true)
			}
		} else {
			for l := len(p.layers) - 2; l >= 0; l-- {
				p.pull(p.layers[l], false)
			}
		}
	}
	least, most := 0.0, 0.0
	for i := range p.vs {
		v := &p.vs[i]
		if i == 0 || v.x-v.w/2 < least {
			least = v.x - v.w/2
		}
		if i == 0 || v.x+v.w/2 > most {
			most = v.x + v.w/2
		}
	}
	for i := range p.vs {
		p.vs[i].x += margin - least
	}
	p.width = most - least + 2*margin
}

// apart is the least distance of the centres of neighbours.
func (p *placed) apart(a, b int) float64 {
	gap := nodeGap
	if p.vs[a].dummy || p.vs[b].dummy {
		gap = dummyGap
	}
	if p.g.Across {
		gap = acrossGap
	}
	return (p.vs[a].w+p.vs[b].w)/2 + gap
}

// pull moves the vertices of a layer towards the median of their neighbours
// above or below, by isotonic regression (pool adjacent violators) on places
// less the distances that must be kept.
func (p *placed) pull(layer []int, upper bool) {
	type pool struct {
		sum, weight float64
		n           int
	}
	var pools []pool
	shift := make([]float64, len(layer))
	for k, v := range layer {
		if k > 0 {
			shift[k] = shift[k-1] + p.apart(layer[k-1], v)
		}
		want, weight := p.wanted(v, upper)
		pools = append(pools, pool{(want - shift[k]) * weight, weight, 1})
		for len(pools) > 1 {
			a, b := &pools[len(pools)-2], &pools[len(pools)-1]
			if a.sum/a.weight <= b.sum/b.weight {
				break
			}
			a.sum, a.weight, a.n = a.sum+b.sum, a.weight+b.weight, a.n+b.n
			pools = pools[:len(pools)-1]
		}
	}
	k := 0
	for _, q := range pools {
		for range q.n {
			p.vs[layer[k]].x = q.sum/q.weight + shift[k]
			k++
		}
	}
}

// wanted is where a vertex would best be, and how much that matters: dummies
// most, so that long edges become straight.
func (p *placed) wanted(v int, upper bool) (x, weight float64) {
	near := p.vs[v].up
	if !upper {
		near = p.vs[v].down
	}
	if len(near) == 0 {
		return p.vs[v].x, 0.3
	}
	xs := make([]float64, len(near))
	for i, n := range near {
		xs[i] = p.vs[n].x
	}
	slices.Sort(xs)
	m := len(xs) / 2
	x = xs[m]
	if len(xs)%2 == 0 {
		x = (xs[m-1] + xs[m]) / 2
	}
	weight = 1 + 0.2*float64(len(near))
	if p.vs[v].dummy {
		weight = 4
		if p.vs[near[0]].dummy {
			weight = 12
		}
	}
	return x, weight
}
