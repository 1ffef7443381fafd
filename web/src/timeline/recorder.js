// Time that the recorder spent for itself: hatched, as nothing of the program happened then.
import { themed } from '../colours.js';

const kStep = 5;  // between the lines

/** Columns own.row, .begin and .length, where the trace tells them. */
export function drawRecorder(context, picture) {
  const { model } = picture.view;
  const { row, begin, length } = model.recorder;
  if (row.length === 0) return;
  context.save();
  picture.clip();
  context.strokeStyle = themed('--soft');
  context.lineWidth = 1;
  for (let i = 0; i < row.length; ++i) {
    const y = picture.places.get(row[i]);
    if (y === undefined) continue;
    const half = picture.heights.get(row[i]) / 2 - 1;
    const x0 = Math.max(picture.xOf(begin[i]), picture.view.gutter);
    const x1 = Math.min(picture.xOf(begin[i] + length[i]), picture.view.gutter + picture.view.plotWidth);
    if (x1 <= x0) continue;
    context.save();
    context.beginPath();
    context.rect(x0, y - half, Math.max(1, x1 - x0), 2 * half);
    context.clip();
    context.beginPath();
    for (let x = x0 - 2 * half; x < x1; x += kStep) {
      context.moveTo(x, y + half);
      context.lineTo(x + 2 * half, y - half);
    }
    context.stroke();
    context.restore();
  }
  context.restore();
}
