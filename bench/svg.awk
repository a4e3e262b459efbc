# SPDX-License-Identifier: MIT
#
# svg.awk - an SVG of gnuplot in, the same picture out, for pages of any colour.
# The background is transparent. Axes and text are dark, or light where the
# reader prefers a dark page. A group is one line, and empty groups go.

/^[ \t]*$/ { next }

/<filter / { in_filter = 1 }
in_filter {
    if (/<\/filter>/)
        in_filter = 0
    next
}

/<(title|desc)>/ { next }
/<g id="gnuplot_plot/ { next }
/^\t<\/g>$/ && depth == 0 { next }

# The markers that are used: a filled circle.
/id='gp(Dot|Pt)/ && !/id='gpPt[56]'/ { next }

{
    gsub(/<title>[^<]*<\/title>/, "")
    gsub(/ font-family="sans-serif"/, "")
    gsub(/stroke='black'/, "class=\"axis\"")
    gsub(/stroke='(gray|rgb\(190, *190, *190\))'/, "class=\"grid\"")
    gsub(/class="gridline" */, "")
    gsub(/stroke="none" fill="black"/, "class=\"text\"")
    gsub(/[ \t]+/, " ")
    sub(/^ /, "")
}

/^<svg/ { in_head = 1 }
in_head {
    head = head (head == "" ? "" : " ") $0
    if (/>$/) {
        sub(/ >$/, ">", head)
        print head
        print "<style>"
        print "text { font-family: sans-serif; }"
        print ".text { fill: #1f2328; stroke: none; }"
        print ".axis { stroke: #59636e; }"
        print ".grid { stroke: #d1d9e0; }"
        print "@media (prefers-color-scheme: dark) {"
        print "  .text { fill: #e6edf3; }"
        print "  .axis { stroke: #9198a1; }"
        print "  .grid { stroke: #3d444d; }"
        print "}"
        print "</style>"
        in_head = 0
    }
    next
}

/<g id="gnuplot_canvas"/ { print; next }

# A group of the top level, up to its end.
depth > 0 || /^<g / {
    opened = gsub(/<g /, "<g ")
    closed = gsub(/<\/g>/, "</g>")
    group = group $0
    depth += opened - closed
    if (depth > 0)
        next
    if (group !~ /^<g [^>]*><\/g>$/)
        print group
    group = ""
    depth = 0
    next
}

{ print }
