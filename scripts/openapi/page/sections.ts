import { renderMarkdown } from './html.ts'

/** A part of the page with a heading, which the menu and the search list. */
export interface Section {
  id: string
  title: string
  /** HTML. */
  content: string
  children: readonly Section[]
}

/** The id that GitHub derives from a heading, so that links work in page and Markdown. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

/**
 * Splits a guide into chapters (`#`) with parts (`##`). A `#` inside a code block is no heading.
 */
export function guideSections(guide: string): Section[] {
  return split(guide, '# ').map(({ title, text }) => {
    const parts = split(`## \n${text}`, '## ')
    const [intro, ...children] = parts.map((part) => sectionOf(part.title, part.text))
    return { ...sectionOf(title, ''), content: intro?.content ?? '', children }
  })
}

function sectionOf(title: string, text: string): Section {
  return { id: anchorOf(title), title, content: renderMarkdown(text), children: [] }
}

function split(markdown: string, mark: string): { title: string; text: string }[] {
  const parts: { title: string; lines: string[] }[] = []
  let isCode = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode
    if (!isCode && line.startsWith(mark)) parts.push({ title: line.slice(mark.length), lines: [] })
    else parts.at(-1)?.lines.push(line)
  }
  return parts.map(({ title, lines }) => ({ title, text: lines.join('\n') }))
}

/** Renders a section and its children. `level`: of its heading. */
export function renderSection({ id, title, content, children }: Section, level: number): string {
  return [
    `<section id="${id}">`,
    `<h${level}><a href="#${id}">${title}</a></h${level}>`,
    content,
    ...children.map((child) => renderSection(child, level + 1)),
    '</section>',
  ].join('\n')
}
