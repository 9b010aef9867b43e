// Имена: shapes and what draws them.
import type { Canvas } from './canvas';
import { draw } from './draw';
import util = require('util');

export type Point = { x: number; y: number };
type Name = 'круг' | 'square';

/** What can be drawn. */
export interface Shape<T = Point> extends Named {
  readonly center: T;
  area(): number;
  scale?(by: number): this;
}

export enum Color {
  Red = 'red',
  // not used yet
  Blue = 'blue',
}

declare module 'canvas' {
  export function open(name: string): Canvas;
}

declare global {
  interface Window {
    shapes: Shape[];
  }
}

export namespace Units {
  export const INCH = 2.54;

  /** To centimetres. */
  export function cm(inches: number): number {
    return inches * INCH;
  }
}

function log(target: unknown, key: string) {}

export abstract class Base implements Shape {
  protected static count = 0;
  handler = (e: Event): void => {
    draw(e);
  };

  constructor(public readonly center: Point) {}

  abstract area(): number;

  @log
  get name(): Name {
    return 'круг';
  }
}

@sealed
export class Circle extends Base {
  area(): number {
    return Math.PI;
  }

  resize(by: number): void;
  resize(by: string): void;
  resize(by: number | string): void {
    const n = Number(by);
  }
}

export function pick(a: string): string;
export function pick(a: number): number;
export function pick(a: any): any {
  return a;
}

export const make = <T extends Shape>(of: new () => T): T => new of();

const registry: Record<string, () => Shape> = {
  circle: () => new Circle({ x: 0, y: 0 }),
};

declare function external(x: number): void;
declare const VERSION: string;

export default registry;
