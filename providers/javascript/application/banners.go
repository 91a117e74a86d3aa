package application

import (
	"regexp"
	"strings"

	"rea/providers/javascript/parse"
)

// A banner is a comment that names a library and its version, or a licence.
type banner struct {
	at                     parse.Span
	name, version, licence string
}

const (
	maxBanner  = 4096 // bytes of a comment that are looked at
	maxBanners = 2000
)

var (
	bannerVersion = regexp.MustCompile(`(?i)^\W*(?:@license\s+|@preserve\s+|license\s+)?([a-z@][\w.@/ -]{0,60}?)(?:\.js)?(?: javascript library| library)?[ ,:]*(?:\(?v(?:ersion)?\.?[ :]*|[ -]@?)(\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?)\b`)
	bannerPackage = regexp.MustCompile(`(?m)@(?:license|module|name)\s+([\w@/.-]+)(?:\s+v?(\d+\.\d+\.\d+[\w.-]*))?`)
	bannerVersed  = regexp.MustCompile(`(?mi)^\W*@?version[ :]+v?(\d+\.\d+(?:\.\d+)?[\w.-]*)`)
	bannerLicence = regexp.MustCompile(`(?i)\b(MIT|Apache(?:[- ]License)?(?:,? (?:Version )?2\.0|-2\.0)|BSD(?:-[23]-Clause)?|ISC|MPL(?:-| )2\.0|GPL(?:v[23]|-[23]\.0)?|LGPL|Unlicense|0BSD|CC0)\b(?:[ -]licen[cs]e)?`)
)

// banners reads comments that bundlers keep because they state a licence.
func banners(f *parse.File) (list []banner) {
	for _, c := range f.Comments {
		text := f.Src[c.Start:min(c.End, c.Start+maxBanner)]
		if len(text) < 12 || text[1] != '*' || !strings.HasPrefix(text, "/*!") && !strings.Contains(text, "@license") && !strings.Contains(text, "@preserve") && !strings.Contains(strings.ToLower(text), "licen") {
			continue
		}
		b := banner{at: c}
		body := strings.TrimLeft(text, "/*! \t\r\n")
		first, _, _ := strings.Cut(body, "\n")
		switch m := bannerVersion.FindStringSubmatch(first); {
		case m != nil:
			b.name, b.version = strings.TrimSpace(m[1]), m[2]
		default:
			if m := bannerPackage.FindStringSubmatch(text); m != nil && !bannerLicence.MatchString(m[1]) {
				b.name, b.version = m[1], m[2]
			}
		}
		if b.version == "" {
			if m := bannerVersed.FindStringSubmatch(text); m != nil {
				b.version = m[1]
			}
		}
		if m := bannerLicence.FindStringSubmatch(text); m != nil {
			b.licence = m[1]
		}
		b.name = strings.TrimSuffix(strings.TrimSuffix(b.name, "-"), " ")
		if b.name == "" && b.licence == "" {
			continue
		}
		if list = append(list, b); len(list) == maxBanners {
			break
		}
	}
	return list
}
