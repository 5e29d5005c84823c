/** How the reader of a document names what is in it. */
import type { Plain } from '../language/types.js'

export interface DocumentNames {
  /** Of the document. */
  readonly title: string
  readonly path: (own: string) => string
  readonly pathItem: (item: Plain) => Plain
  readonly schema: (schema: Plain) => Plain
  /** The name of a definition. */
  readonly definition: (own: string) => string
}

const same = <T>(own: T): T => own

export const OWN_DOCUMENT_NAMES: DocumentNames =
  { title: 'orch', path: same, pathItem: same, schema: same, definition: same }
