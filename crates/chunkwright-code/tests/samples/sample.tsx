// Список: a list of tasks.
import React, { useState } from 'react';
import type { Task } from './task';

type Props = {
  tasks: Task[];
  onDone: (id: string) => void;
};

interface State {
  open: boolean;
}

const EMPTY = <p>пусто</p>;

/** One task. */
export const Row: React.FC<{ task: Task }> = ({ task }) => {
  return <li>{task.title}</li>;
};

export function List({ tasks, onDone }: Props) {
  const [open, setOpen] = useState<State['open']>(true);
  const toggle = () => setOpen(!open);
  if (tasks.length === 0) {
    return EMPTY;
  }
  return (
    <ul onClick={toggle}>
      {tasks.map((task) => (
        <Row key={task.id} task={task} />
      ))}
      <li>end</li>
    </ul>
  );
}

export class Board extends React.Component<Props, State> {
  state = { open: true };

  render() {
    return <List {...this.props} />;
  }
}

export const Memo = React.memo(function Inner(props: Props) {
  return <List {...props} />;
});

export default Board;
