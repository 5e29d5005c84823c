/** How rules write property names that are not CEL identifiers. */
const RESERVED: ReadonlySet<string> = new Set([
  'true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let',
  'loop', 'package', 'namespace', 'return', 'var', 'void', 'while'
])
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/
const ESCAPES: Readonly<Record<string, string>> = {
  __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__'
}

/** Undefined for a property that rules cannot name. */
export function escapeName (property: string): string | undefined {
  if (RESERVED.has(property)) return `__${property}__`
  const escaped = property.replace(/__|[./-]/g, sequence => ESCAPES[sequence] ?? sequence)
  return IDENTIFIER.test(escaped) ? escaped : undefined
}

const UNESCAPES: ReadonlyMap<string, string> = new Map(Object.entries(ESCAPES).map(([text, name]) => [name, text]))

/** The property that an escaped name stands for. */
export function unescapeName (name: string): string {
  const [, reserved = ''] = /^__(.+)__$/.exec(name) ?? []
  if (RESERVED.has(reserved)) return reserved
  return name.replace(/__(?:underscores|dot|dash|slash)__/g, sequence => UNESCAPES.get(sequence) ?? sequence)
}
