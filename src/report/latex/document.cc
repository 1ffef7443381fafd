#include "report/latex/document.h"

#include <filesystem>

#include "report/latex/cells.h"
#include "report/latex/tex_sections.h"
#include "report/latex/tex_text.h"
#include "report/page/index_page.h"

namespace refrain::report {
namespace latex {
namespace {

// Packages of texlive-latex-base and texlive-pictures alone. \rfchar: a character by its number in
// the typewriter font, whose order is that of ASCII.
constexpr std::string_view kPackages = R"tex(\documentclass[a4paper,10pt]{article}
\usepackage[margin=18mm]{geometry}
\usepackage{array,longtable}
\usepackage{tikz}
\usetikzlibrary{arrows.meta}
\usepackage[hidelinks]{hyperref}
)tex";

constexpr std::string_view kCommands = R"tex(\newcommand\rfcodesize{\small}
\DeclareRobustCommand\rfcode[1]{{\ttfamily\rfcodesize #1}}
\DeclareRobustCommand\rfchar[1]{\char#1\relax\penalty100\relax}
\DeclareRobustCommand\rfspace{\ \penalty50\relax}
\DeclareRobustCommand\rfbreak{\penalty200\relax}
\newcommand\rfbar[1]{\textcolor{rfclass1}{\rule{#1}{1.6mm}}}
\newcommand\rfswatch[1]{\textcolor{#1}{\rule[-0.3mm]{1.6mm}{2.2mm}}}
\newcommand\rfkey[1]{{\fboxsep0pt\fboxrule0.2pt\fbox{\textcolor{#1}{\rule{2.4mm}{1.8mm}}}}}
\newcolumntype{L}[1]{>{\raggedright\arraybackslash}p{#1}}
\newdimen\rfwidth \newdimen\rfheight
\newcommand\rfcells[2]{\setlength\rfwidth{#1}\setlength\rfheight{#2}\pgfsetlinewidth{0.1pt}}
\newcommand\rfcell[4]{\pgfpathrectangle{\pgfpoint{#1\rfwidth}{#2\rfheight}}%
  {\pgfpoint{#3\rfwidth}{#4\rfheight}}}
\newcommand\rfink{\pgfusepath{fill,stroke}}
\newcommand\rfarrow[4]{\draw[white,line width=0.9pt,opacity=0.7] (#1,#2)--(#3,#4);%
  \draw[black,line width=0.3pt,-{Stealth[length=1.3mm,width=0.9mm]}] (#1,#2)--(#3,#4);}
\newcommand\rfarrowkey{\tikz[baseline=-0.6ex]{%
  \draw[line width=0.4pt,-{Stealth[length=1.3mm,width=0.9mm]}] (0,0)--(5,0);}}
\newcommand\rfwarning[1]{\par\noindent\fcolorbox{rfwarnline}{rfwarn}{%
  \begin{minipage}{\dimexpr\textwidth-2\fboxsep-2\fboxrule\relax}\raggedright
  #1\end{minipage}}\par\medskip}
\makeatletter
\newcommand\rffigure[2]{\par\nopagebreak\medskip\noindent\begin{minipage}{\textwidth}\centering
  \def\@captype{figure}\let\rfcodesize\relax#1\caption{#2}\end{minipage}\par\medskip}
\makeatother
\setlength\parindent{0pt} \setlength\parskip{4pt plus 2pt}
\setlength\tabcolsep{3pt} \setlength\LTpre{6pt} \setlength\LTpost{6pt} \setlength\LTleft{0pt}
\AtBeginDocument{\raggedright}
\tikzset{every picture/.style={x=1mm,y=1mm,font=\scriptsize}}
\definecolor{rfwarn}{HTML}{FFF3BF}
\definecolor{rfwarnline}{HTML}{B58900}
\definecolor{rfsoft}{HTML}{6B7077}
)tex";

std::string heading(const std::string& title) {
  return "\\texorpdfstring{" + code(title, 80) + "}{" + bare(title, 80) + "}";
}

constexpr size_t kTemporalRows = 32, kTemporalBins = 60;

// What the page does not have, or not as pictures.
void put_details(const Trace& trace, const PageData& data, std::string& out) {
  put_temporal(analysis::temporal_maps(trace, kTemporalRows, kTemporalBins), out);
  put_kinds(analysis::topology(trace), trace.rank_count(), out);
  put_iterations(data, out);
  put_ranks(data, out);
}

}  // namespace

std::string section(const std::string& title, const std::string& look_for) {
  return "\n\\section{" + title + "}\n\\emph{" + look_for + "}\n\n\\nopagebreak ";
}

std::string figure(const std::string& picture, const std::string& caption) {
  return "\\rffigure{" + picture + "}{" + caption + "}\n";
}

}  // namespace latex

using namespace latex;

LatexPart latex_part(const Trace& trace, const PageData& data, Verbosity verbosity) {
  LatexPart out;
  const std::string file = text(data.json["trace"]);
  out.title = std::filesystem::path(text(data.json["info"]["program"])).filename().string();
  if (out.title.empty()) out.title = std::filesystem::path(file).filename().string();
  out.entry = index_entry(data, file);
  std::string& body = out.body;
  for (const auto& program : data.json["info"]["programs"])
    body += "\\begin{center}" + code(text(program["command"]), 400) + "\\end{center}\n";
  put_warning(data.json["info"], body);
  put_verdict(data, body);
  put_timeline(data, body);
  const Detail detail = detail_of(verbosity);
  if (verbosity == Verbosity::kBrief) {
    put_profile(data, body, detail);
    put_waits(data, body, detail);
    return out;
  }
  put_matrix(data, body, detail);
  put_graph(data, body);
  put_density(data, body, detail);
  put_profile(data, body, detail);
  put_sizes(data, body);
  put_posix(data, body);
  put_waits(data, body, detail);
  put_clusters(data, body);
  if (verbosity == Verbosity::kFull) put_details(trace, data, body);
  put_environment(data, body);
  return out;
}

std::string latex_document(const std::vector<LatexPart>& parts) {
  const bool is_one = parts.size() == 1;
  const std::string title =
      is_one ? parts[0].title + " - refrain report" : "refrain report of several runs";
  std::string out = "% Made by refrain report --format latex; latexmk -pdf makes a PDF of it.\n";
  out += kPackages;
  out += colour_definitions();
  out += kCommands;
  out += "\\hypersetup{pdftitle={" + bare(title) + "},pdfcreator={refrain}}\n\\begin{document}\n";
  out += "\\begin{center}{\\LARGE\\let\\rfcodesize\\relax " +
         (is_one ? heading(parts[0].title)
                 : number(std::to_string(parts.size())) + std::string(" runs")) +
         "}\\\\[2mm] a report of Refrain\\end{center}\n";
  if (!is_one) {
    std::vector<Json> entries;
    for (const LatexPart& part : parts) entries.push_back(part.entry);
    put_comparison(entries, out);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!is_one)
      out += "\\clearpage\\setcounter{section}{0}{\\let\\rfcodesize\\relax\\part{" +
             heading(parts[i].title + " (" + text(parts[i].entry["file"]) + ")") + "}}\n";
    out += parts[i].body;
  }
  return out + "\\end{document}\n";
}

}  // namespace refrain::report
