/** Flag type `metric,label=value,value`, repeated for several metrics; values may be quoted. */
import { eachItem, printable, Problem, type Flag } from '../flag.js'

/** By `metric,label`. */
export type LabelValues = ReadonlyMap<string, readonly string[]>

const KEY = /([a-z_:][a-z0-9_:]*),([a-z_][a-z0-9_]*)=/gi

export const labelValues = (help: string): Flag<LabelValues> => ({
  type: 'METRIC,LABEL=VALUE,...',
  default: new Map(),
  help,
  defaultText: '',
  emptyText: '[]',
  bare: false,
  parse: (text, before) => {
    const map = new Map(before)
    const keys = [...text.matchAll(KEY)]
    if (text.trim() !== '' && keys[0]?.index !== text.search(/\S/)) {
      throw new Problem(`${printable(JSON.stringify(text))} must have the form metric,label=value,value`)
    }
    for (const [at, { 0: whole, 1: metric = '', 2: label = '', index }] of keys.entries()) {
      const list = text.slice(index + whole.length, keys[at + 1]?.index)
        .trim().replace(/,$/, '').replace(/^(['"])(.*)\1$/, '$2')
      map.set(`${metric},${label}`, list.split(',').map(value => value.trim()))
    }
    return map
  },
  accept: value => {
    if (!(value instanceof Map)) throw new Problem('must be a Map of lists by metric,label')
    for (const [key, list] of value as Map<unknown, unknown>) {
      if (typeof key !== 'string' || !/^[a-z_:][a-z0-9_:]*,[a-z_][a-z0-9_]*$/i.test(key)) {
        throw new Problem(
          `must have keys of the form metric,label, not ${printable(JSON.stringify(key) ?? String(key))}`
        )
      }
      eachItem(list, item => { if (typeof item !== 'string') throw new Problem('must have lists of strings') })
    }
  }
})
