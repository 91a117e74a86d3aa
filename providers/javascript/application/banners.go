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
	maxTitle   = 6 // lines in which a library is named
)

var (
	// "jQuery JavaScript Library v3.7.1", "tiny-lib@1.2.3 | MIT", "https://d3js.org v7.9.0"
	bannerTitle = regexp.MustCompile(`(?i)^(?:https?://)?([a-z@][\w.@/-]*(?: [a-z][\w.-]*){0,3}?)(?: javascript)?(?: library)?[ ,:]*(?:\(?(?:v|version|release)\.?[ :]*|[ -]@?|@)(\d+\.\d+(?:\.\d+)?(?:-[a-z][\w.]*)?)(?:$|[\s|,;:)(/+-])`)
	// "react-dom.production.min.js", "moment.js"
	bannerFile = regexp.MustCompile(`(?i)^([a-z@][\w@/-]*(?:\.[\w-]+)*?)(?:\.(?:development|production|profiling|min|umd|cjs|esm|mjs|prod|dev|global|browser|bundle|slim|runtime))*\.[cm]?js$`)
	// "Lodash <https://lodash.com/>", "express"
	bannerName    = regexp.MustCompile(`(?i)^([a-z@][\w.@/-]{1,60}?)(?:\.js)?(?: <[^>]*>)?$`)
	bannerTag     = regexp.MustCompile(`(?i)^@(license|licence|preserve|module|name|package|overview|fileoverview|file)\b[ :]*(.*)$`)
	bannerVers    = regexp.MustCompile(`(?i)^@?version[ :]+v?(\d+\.\d+(?:\.\d+)?(?:-[a-z][\w.]*)?)`)
	bannerLicence = regexp.MustCompile(`(?i)\b(MIT|Apache(?:[- ]License)?(?:,? (?:Version )?2\.0|-2\.0)|BSD(?:-[23]-Clause)?|ISC|MPL(?:-| )2\.0|GPL(?:v[23]|-[23]\.0)?|LGPL|Unlicense|0BSD|CC0)\b(?:[ -]licen[cs]e)?`)
	bannerSPDX    = regexp.MustCompile(`SPDX-License-Identifier:\s*([\w.+-]+)`)
)

// banners reads comments that bundlers keep because they state a licence.
func banners(f *parse.File) (list []banner) {
	for i := 0; i < len(f.Comments) && len(list) < maxBanners; i++ {
		c := f.Comments[i]
		if strings.HasPrefix(f.Src[c.Start:], "//") { // a block of lines
			for i+1 < len(f.Comments) && f.Comments[i+1].Start-c.Start < maxBanner && strings.HasPrefix(f.Src[f.Comments[i+1].Start:], "//") &&
				strings.TrimSpace(f.Src[f.Comments[i].End:f.Comments[i+1].Start]) == "" {
				i++
			}
			c.End = f.Comments[i].End
		}
		text := f.Src[c.Start:min(c.End, c.Start+maxBanner)]
		if len(text) < 12 || !keptComment(text, c.Start) {
			continue
		}
		if b := readBanner(text); b.name != "" || b.licence != "" {
			b.at = c
			list = append(list, b)
		}
	}
	return list
}

// keptComment reports whether a comment is of those that are kept: marked as such, or
// one that speaks of a licence, or the first of a file.
func keptComment(text string, at uint32) bool {
	if strings.HasPrefix(text, "/*!") || strings.HasPrefix(text, "//!") || strings.HasPrefix(text, "/**!") {
		return true
	}
	for _, mark := range []string{"icen", "ICEN", "opyright", "OPYRIGHT", "@preserve"} { // of licences and copyrights
		if strings.Contains(text, mark) {
			return true
		}
	}
	return at == 0 && strings.HasPrefix(text, "/*")
}

// readBanner reads what a comment says in its lines. What it is named after is told
// in the first of them.
func readBanner(text string) (b banner) {
	if m := bannerSPDX.FindStringSubmatch(text); m != nil {
		b.licence = m[1]
	} else if m := bannerLicence.FindStringSubmatch(text); m != nil {
		b.licence = m[1]
	}
	lines := 0
	loose := "" // a name that stands alone
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(line), "*/"))
		line = strings.TrimSpace(strings.TrimLeft(line, "/*!=-_#~ \t"))
		if line == "" {
			continue
		}
		if m := bannerVers.FindStringSubmatch(line); m != nil && b.version == "" {
			b.version = m[1]
			continue
		}
		if lines++; lines > maxTitle {
			continue
		}
		named := false // by a tag
		if m := bannerTag.FindStringSubmatch(line); m != nil {
			named = !strings.EqualFold(m[1], "preserve")
			if line = strings.TrimSpace(m[2]); line == "" {
				lines--
				continue
			}
		}
		if m := bannerFile.FindStringSubmatch(line); m != nil && b.version == "" {
			b.name = m[1]
			continue
		}
		if b.name != "" {
			continue
		}
		if m := bannerTitle.FindStringSubmatch(line); m != nil && !notName(m[1]) {
			b.name, b.version = strings.TrimSuffix(m[1], ".js"), m[2]
			continue
		}
		if m := bannerName.FindStringSubmatch(line); m != nil && !notName(m[1]) && (named || lines == 1) && loose == "" {
			loose = m[1]
		}
	}
	if b.name == "" && (b.licence != "" || b.version != "") {
		b.name = loose
	}
	if b.name == "" {
		b.version = ""
	}
	return b
}

// notName reports words with which sentences about licences begin.
func notName(s string) bool {
	first, _, _ := strings.Cut(s, " ")
	switch strings.ToLower(first) {
	case "copyright", "license", "licensed", "licence", "released", "based", "apache", "mit", "bsd", "isc", "mpl", "gpl", "lgpl", "permission", "this", "the", "see", "for", "version", "v", "es", "ecmascript",
		"node", "use", "requires", "since", "compatible", "under", "created", "author", "authors", "from", "in", "it", "build", "generated", "eslint", "eslint-disable", "jshint", "global", "istanbul", "includes", "http:", "https:":
		return true
	}
	return bannerLicence.MatchString(s) && len(s) < 20
}
